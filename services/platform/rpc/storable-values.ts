import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf';
import { StructSchema, type Timestamp, TimestampSchema, timestampDate } from '@bufbuild/protobuf/wkt';
import type { FieldFault } from '../errors.ts';

/** The earliest accepted timestamp. */
const EARLIEST = Date.UTC(1900, 0, 1);
/** Exclusive upper bound: the last second of the year 9999 could round up to a five-digit year. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59);
const MAX_NANOS = 999_999_999;
/** JSON has neither infinities nor NaN. */
const NOT_JSON: FieldFault[] = [{ field: '', must: 'must hold finite numbers only' }];
const NOT_TEXT: FieldFault[] = [{ field: '', must: 'must be text without NUL' }];
const NOT_A_TIME: FieldFault[] = [{ field: '', must: 'must be a time in the years 1900 to 9999' }];

/**
 * Finds the values in a request that protobuf accepts but PostgreSQL or JSON does not: text with NUL or lone
 * surrogates, timestamps outside the years 1900 to 9999, non-finite JSON numbers. Undefined, without an allocation, when all
 * are storable.
 */
export function unstorableValues(type: DescMessage, message: Message): FieldFault[] | undefined {
  if (type.typeName === TimestampSchema.typeName) return timestampFault(message as Timestamp);
  // Messages represent a Struct as plain JSON.
  if (type.typeName === StructSchema.typeName) return jsonFault(message as unknown as JsonObject);
  let all: FieldFault[] | undefined;
  for (const field of type.fields) {
    if (!field.message && field.scalar !== ScalarType.STRING && field.fieldKind !== 'map') continue;
    const value = valueIn(field, message as unknown as Record<string, unknown>);
    const faults = value === undefined ? undefined : faultsOf(field, value);
    if (faults) all = [...(all ?? []), ...faults.map((fault) => within(field.name, fault))];
  }
  return all;
}

/** A fault with its path below a field, or below an element of a list. */
function within(name: string, { field: path, ...fault }: FieldFault): FieldFault {
  const separator = path === '' || path.startsWith('[') ? '' : '.';
  return { ...fault, field: `${name}${separator}${path}` };
}

function faultsOf(field: DescField, value: unknown): FieldFault[] | undefined {
  let all: FieldFault[] | undefined;
  switch (field.fieldKind) {
    case 'list':
      for (const [index, element] of (value as unknown[]).entries()) {
        const faults = faultsOfOne(field, element);
        if (faults) all = [...(all ?? []), ...faults.map((fault) => within(`[${index}]`, fault))];
      }
      return all;
    case 'map':
      for (const [key, entry] of Object.entries(value as object)) {
        const faults = textFault(key) ?? faultsOfOne(field, entry);
        if (faults) all = [...(all ?? []), ...faults];
      }
      return all;
    default:
      return faultsOfOne(field, value);
  }
}

function faultsOfOne({ message: type, scalar }: DescField, value: unknown): FieldFault[] | undefined {
  if (type) return unstorableValues(type, value as Message);
  return scalar === ScalarType.STRING ? textFault(value as string) : undefined;
}

function valueIn(field: DescField, message: Record<string, unknown>): unknown {
  if (!field.oneof) return message[field.localName];
  const chosen = message[field.oneof.localName] as { case?: string; value?: unknown };
  return chosen.case === field.localName ? chosen.value : undefined;
}

const textFault = (text: string): FieldFault[] | undefined =>
  !text.includes('\0') && text.isWellFormed() ? undefined : NOT_TEXT;

function timestampFault(timestamp: Timestamp): FieldFault[] | undefined {
  const { nanos } = timestamp;
  const at = timestampDate(timestamp).getTime();
  return at >= EARLIEST && at < LATEST && nanos >= 0 && nanos <= MAX_NANOS ? undefined : NOT_A_TIME;
}

/** The first fault is enough: they have no paths. */
function jsonFault(value: JsonValue): FieldFault[] | undefined {
  if (typeof value === 'string') return textFault(value);
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : NOT_JSON;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const fault = textFault(key) ?? jsonFault(member);
    if (fault) return fault;
  }
  return undefined;
}
