/** The value names of an enum, except UNSPECIFIED. */
export type EnumName<E extends Record<string, string | number>> = Exclude<
  Extract<keyof E, string>,
  'UNSPECIFIED'
>;

/** The name of a validated enum value, as used in the database and the JSON API; undefined for undefined. */
export function enumName<E extends Record<string, string | number>>(type: E, value: number): EnumName<E>;
export function enumName<E extends Record<string, string | number>>(
  type: E,
  value: number | undefined,
): EnumName<E> | undefined;
export function enumName<E extends Record<string, string | number>>(type: E, value: number | undefined) {
  if (value === undefined) return undefined;
  const name = type[value as unknown as keyof E] as unknown;
  if (typeof name !== 'string' || name === 'UNSPECIFIED')
    throw new TypeError(`${value} is not a value of the enum`);
  return name as EnumName<E>;
}
