"""What `make test` says beyond passed and failed."""

import gates

DURATIONS = """
============================= slowest 2 durations ==============================
1.90s call     tests/test_a.py::test_one[case 1]
12.50s setup    tests/test_b.py::test_two
2 passed in 15.20s
"""
MUTANTS = "\nperceptron: 12 of 300 changes, 41 s\ntrees: 12 of 80 changes, 7 s\n"


def test_the_slowest_parts_of_a_gate_are_told_in_order():
    assert [line.split()[-1] for line in gates.slowest(MUTANTS, 10)] == ["perceptron", "trees"]
    found = gates.slowest(DURATIONS, 10)
    assert [line.split()[0] for line in found] == ["12.5", "1.9"]
    assert found[1].endswith("call tests/test_a.py::test_one[case 1]")
    assert len(gates.slowest(DURATIONS + MUTANTS, 3)) == 3
    assert gates.slowest("3 passed in 1.00s", 10) == []
