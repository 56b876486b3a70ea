import { UnderscoreNamingStrategy } from '@mikro-orm/postgresql';

const naming = new UnderscoreNamingStrategy();
const names = new Map<string, string>();

/** The column of a property: `merchant_id` of `merchantId`. */
export function columnName(property: string): string {
  let name = names.get(property);
  if (name === undefined) {
    name = naming.propertyToColumnName(property);
    names.set(property, name);
  }
  return name;
}
