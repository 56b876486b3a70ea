/** JSON as it stands in the document. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [member: string]: Json;
}

/** The largest integer of 32 bits: what generated clients take for an integer that says nothing of its width. */
const MAX_INT32 = 2 ** 31 - 1;

/**
 * Takes JSON Schemas into the document: those with a title are collected under it, and what stands in their place is a
 * reference. What only our own validator reads stays out, and integers that 32 bits may not hold say so.
 */
export class NamedSchemas {
  readonly #schemas = new Map<string, JsonObject>();
  readonly #known: JsonObject;

  /** `known`: what stands for the schemas of these titles, where the document knows more than the route. */
  constructor(known: JsonObject = {}) {
    this.#known = known;
  }

  /** The schema as it stands where it is used. Throws when two different schemas have one title. */
  use(schema: unknown): JsonObject {
    return this.#written(JSON.parse(JSON.stringify(schema))) as JsonObject;
  }

  /** Every named schema, in the order of their names. */
  components(): JsonObject {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #written(value: Json): Json {
    if (Array.isArray(value)) return value.map((item: Json) => this.#written(item));
    if (typeof value !== 'object' || value === null) return value;
    const object = value as JsonObject;
    // A member of an object may be called title too; its schema is no string.
    const { title } = object;
    const written = Object.fromEntries(
      Object.entries(object)
        .filter(([name]) => !name.startsWith('x-') && !(name === 'title' && typeof title === 'string'))
        .map(([name, member]) => [name, name === 'examples' ? member : this.#written(member)]),
    );
    if (object['x-format'] !== undefined) written.format = object['x-format'];
    if (isWideInteger(object)) written.format = 'int64';
    return typeof title === 'string' ? this.#reference(title, written) : written;
  }

  #reference(title: string, given: JsonObject): JsonObject {
    const schema = (this.#known[title] ?? given) as JsonObject;
    const earlier = this.#schemas.get(title);
    if (earlier && JSON.stringify(earlier) !== JSON.stringify(schema)) {
      throw new TypeError(`two different schemas are named ${title}`);
    }
    this.#schemas.set(title, schema);
    return { $ref: `#/components/schemas/${title}` };
  }
}

function isWideInteger({ type, maximum = Infinity }: JsonObject): boolean {
  return [type].flat().includes('integer') && Number(maximum) > MAX_INT32;
}
