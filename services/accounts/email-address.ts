/**
 * Normalizes an address for comparison: lowercases A to Z only. Unicode lowercasing maps look-alikes to ASCII letters
 * (the Kelvin sign to k), so that one person could pass for another.
 */
export function normalizedEmail(email: string): string {
  return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
