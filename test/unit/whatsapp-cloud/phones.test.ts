import { describe, expect, it } from "vitest";
import { digitsOf, twinOf } from "../../../adapters/whatsapp-cloud/phones.js";

describe("phone numbers that are written in two ways", () => {
  it.each([
    ["Brazil's ninth digit", "5511987654321", "551187654321"],
    ["Argentina's 9", "5491123456789", "541123456789"],
    ["Mexico's 1", "5215512345678", "525512345678"],
  ])("knows %s, there and back", (_, long, short) => {
    expect(twinOf(long)).toBe(short);
    expect(twinOf(short)).toBe(long);
  });

  it.each([
    ["a fixed line in Brazil, which has no ninth digit", "551133334444"],
    ["a number of another country", "34600111222"],
    ["a number that is too short", "54112345"],
    ["nothing", ""],
  ])("leaves %s alone", (_, phone) => {
    expect(twinOf(phone)).toBeUndefined();
  });

  it("reads digits out of what Meta writes, and takes no business-scoped id for a number", () => {
    expect(digitsOf("+54 9 11 2345-6789")).toBe("5491123456789");
    expect(digitsOf("AR.13491208655302741918")).toBeUndefined();
    expect(digitsOf(undefined)).toBeUndefined();
  });
});
