import { expect, it } from "vitest";
import { isJsonObject } from "../../../src/canonical/index.js";

it.each([
  [{}, true],
  [{ a: 1 }, true],
  [[], false],
  [null, false],
  [undefined, false],
  ["{}", false],
  [0, false],
])("%j has members by name: %s", (value, is) => {
  expect(isJsonObject(value)).toBe(is);
});
