/** A JSON value of the document. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [member: string]: Json;
}

/** The largest 32-bit integer: generated clients assume 32 bits for integers without a format. */
const MAX_INT32 = 2 ** 31 - 1;

/**
 * Converts JSON Schemas for the document: schemas with a title become named components and references to them. Keywords
 * for our own validator (`x-…`) are removed, and integers that may exceed 32 bits get the format int64.
 */
export class NamedSchemas {
  readonly #schemas = new Map<string, JsonObject>();
  readonly #known: JsonObject;

  /** `known`: schemas by title that replace those of the routes, for what is only known at run time. */
  constructor(known: JsonObject = {}) {
    this.#known = known;
  }

  /** Converts a schema for the place that uses it. Throws when two different schemas have the same title. */
  use(schema: unknown): JsonObject {
    return this.#convert(JSON.parse(JSON.stringify(schema))) as JsonObject;
  }

  /** Every named schema, ordered by name. */
  components(): JsonObject {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #convert(value: Json): Json {
    if (Array.isArray(value)) return value.map((item: Json) => this.#convert(item));
    if (typeof value !== 'object' || value === null) return value;
    const object = value as JsonObject;
    // An object may also have a property called title; its schema is not a string.
    const { title } = object;
    const converted = Object.fromEntries(
      Object.entries(object)
        .filter(([name]) => !name.startsWith('x-') && !(name === 'title' && typeof title === 'string'))
        .map(([name, member]) => [name, name === 'examples' ? member : this.#convert(member)]),
    );
    if (object['x-format'] !== undefined) converted.format = object['x-format'];
    if (isWideInteger(object)) converted.format = 'int64';
    return typeof title === 'string' ? this.#reference(title, converted) : converted;
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
