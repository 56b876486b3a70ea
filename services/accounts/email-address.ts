/**
 * An address as addresses are compared: A to Z in lower case and nothing else. Unicode's lower case makes one of
 * letters that look alike (the Kelvin sign a k), by which somebody could pass for another.
 */
export function comparedEmail(email: string): string {
  return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
