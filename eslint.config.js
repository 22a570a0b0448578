import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["**/vendor/", "**/node_modules/", "build/", "docs/", ".*/"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2023, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "consistent-return": "error",
      eqeqeq: "error",
      "max-len": ["error", { code: 120 }],
      "no-shadow": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
    },
  },
  { files: ["webjudge/static/**"], languageOptions: { globals: globals.browser } },
  { files: ["tests/scripts/**"], languageOptions: { globals: globals.nodeBuiltin } },
];
