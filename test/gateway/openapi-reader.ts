import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** A document as a client that knows nothing else reads it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into every corner of it
export type Document = any;

export interface Documented {
  readonly operationId: string;
  /** In capitals. */
  readonly method: string;
  /** With `{name}` for parameters. */
  readonly path: string;
  /** Where it stands in the document. */
  readonly at: readonly string[];
  readonly operation: Document;
}

/** Every operation of `paths`. */
export function operationsOf(document: Document): Documented[] {
  return Object.entries<Document>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Document>(methods).map(([method, operation]) => ({
      operationId: operation.operationId,
      method: method.toUpperCase(),
      path,
      operation,
      at: ['paths', path, method],
    })),
  );
}

/** Every request of `webhooks`, by the type of its event. */
export function webhooksOf(
  document: Document,
): { type: string; at: readonly string[]; operation: Document }[] {
  return Object.entries<Document>(document.webhooks).map(([type, { post }]) => ({
    type,
    at: ['webhooks', type, 'post'],
    operation: post,
  }));
}

/** Judges values by the schemas of a document, with a validator of which the gateway has nothing. */
export class DocumentValidator {
  readonly #ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true });

  constructor(document: Document) {
    (addFormats as unknown as (ajv: Ajv2020) => void)(this.#ajv);
    this.#ajv.addSchema(document, 'document');
  }

  /** The faults of a value by the schema at a place in the document. */
  faults(at: readonly (string | number)[], value: unknown): string[] {
    const pointer = at.map((step) =>
      encodeURIComponent(String(step).replaceAll('~', '~0').replaceAll('/', '~1')),
    );
    const $ref = `document#/${pointer.join('/')}`;
    const validate = this.#ajv.getSchema($ref) ?? this.#ajv.compile({ $ref });
    validate(value);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }
}

/** Each object of a JSON value with where it is, the value itself first. */
export function* objectsIn(
  value: unknown,
  at: readonly string[] = [],
): Generator<[readonly string[], Document]> {
  if (typeof value !== 'object' || value === null) return;
  yield [at, value];
  for (const [name, member] of Object.entries(value)) yield* objectsIn(member, [...at, name]);
}
