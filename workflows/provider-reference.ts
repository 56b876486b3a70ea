const BASE = 36;
/** The digits of the largest UUID in this base. */
const LENGTH = 25;

/** An object's reference on bank statements: its UUID as 25 upper-case letters and digits. */
export function referenceOf(uuid: string): string {
  return BigInt(`0x${uuid.replaceAll('-', '')}`)
    .toString(BASE)
    .toUpperCase()
    .padStart(LENGTH, '0');
}
