def faults(root):
    return []
