/* Outputs of the book carry no TeX: this stands in the place of MathJax, and nothing is fetched. */
"use strict";
(() => {
  const nothing = () => {};
  window.MathJax = { Hub: {
    Config: nothing, Configured: nothing, Queue: nothing, getAllJax: () => [],
    Register: { StartupHook: nothing },
  } };
})();
