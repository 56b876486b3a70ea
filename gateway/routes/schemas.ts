import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { MAX_AMOUNT_MINOR } from '../../services/platform/amounts.ts';

/**
 * Building blocks of the public schemas. `x-allowed` describes the allowed values in words where the keywords alone would
 * read badly in an error detail. `x-format` is a format that is documented but not validated here, because an invalid
 * value has its own error code.
 */

/** A UUID: accepted in either case, returned in lower case. */
export const uuid = (description: string, example = '019a3f4e-8b1c-7d2e-9f3a-5b6c7d8e9f0a') =>
  Type.String({ format: 'uuid', description, examples: [example] });

/** A timestamp in UTC with milliseconds. */
export const dateTime = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-11-21T12:30:45.123Z'] });

/** A calendar date of the years 1 to 9999. */
export const calendarDate = (description: string) =>
  Type.String({
    format: 'date',
    pattern: '^(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$',
    'x-allowed': 'a valid date as YYYY-MM-DD',
    description,
    examples: ['2026-11-21'],
  });

/** A month of the years 1 to 9999. */
export const calendarMonth = (description: string) =>
  Type.String({
    pattern: '^(?!0000)[0-9]{4}-(0[1-9]|1[0-2])$',
    'x-allowed': 'a month as YYYY-MM',
    description,
    examples: ['2026-11'],
  });

/** An amount in minor units. It stays a bigint from PostgreSQL to the JSON number, so it is always exact. */
export const amount = (description: string, minimum = 0) =>
  Type.Unsafe<bigint>({
    type: 'integer',
    minimum,
    maximum: Number(MAX_AMOUNT_MINOR),
    description: `${description}, in centavos.`,
    examples: [12_990],
  });

/** A whole number that is not an amount. */
export const count = (description: string, minimum = 0, maximum?: number) =>
  Type.Integer({ minimum, ...(maximum !== undefined && { maximum }), description });

export const oneOf = <const Names extends readonly string[]>(names: Names, description: string) =>
  Type.Unsafe<Names[number]>({ type: 'string', enum: names, description });

/** An enum of names, each with its meaning in the description. */
export const oneOfMeanings = <const Meanings extends Readonly<Record<string, string>>>(
  meanings: Meanings,
  description: string,
) => {
  const list = Object.entries(meanings).map(([name, meaning]) => `- \`${name}\`: ${meaning}`);
  return oneOf(namesOf(meanings), `${description}\n\n${list.join('\n')}`);
};

/** The names of an enum with meanings, in order. */
export const namesOf = <Name extends string>(meanings: Readonly<Record<Name, string>>) =>
  Object.keys(meanings) as Name[];

/** A value that is always present and may be null. */
export const nullable = <S extends TSchema>(schema: S) => {
  const { type, enum: names, ...rest } = schema as unknown as { type: string; enum?: readonly string[] };
  return Type.Unsafe<Static<S> | null>({
    type: [type, 'null'],
    ...(names && { enum: [...names, null] }),
    ...rest,
  });
};

/** An object that allows only these members. */
export const closedObject = <P extends TProperties>(members: P, description?: string): TObject<P> =>
  Type.Object(members, { additionalProperties: false, ...(description !== undefined && { description }) });

/** A closed object with a name in the documentation and, optionally, a complete example. */
export const resource = <P extends TProperties>(
  title: string,
  description: string,
  members: P,
  example?: Readonly<Record<keyof P, unknown>>,
): TObject<P> =>
  Type.Object(members, {
    title,
    description,
    additionalProperties: false,
    ...(example && { examples: [example] }),
  });

/** The query of an operation that takes no parameters. */
export const noQuery = closedObject({});

/** The parameter that continues a list after a page. */
export const cursor = (maxLength: number, example: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength,
      description: '`nextCursor` of the previous page, with the same filters.',
      examples: [example],
    }),
  );

/** The parameter that limits the size of a page. */
export const pageLimit = (maximum: number) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum,
      default: 50,
      description: 'Maximum number of items on the page.',
      examples: [20],
    }),
  );

export const page = <S extends TSchema>(title: string, description: string, item: S, nextCursor: string) =>
  resource(title, description, pageMembers(item, nextCursor));

/** The members of every page; the next cursor is null on the last page. */
export const pageMembers = <S extends TSchema>(item: S, nextCursor: string) => ({
  data: Type.Array(item, { description: 'The items of the page, in the order of the list.' }),
  hasMore: Type.Boolean({ description: 'Whether there is a next page.', examples: [true] }),
  nextCursor: nullable(
    Type.String({
      description: 'Where the next page starts; null on the last page.',
      examples: [nextCursor],
    }),
  ),
});
