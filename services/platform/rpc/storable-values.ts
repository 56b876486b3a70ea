import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf';
import { StructSchema, type Timestamp, TimestampSchema, timestampDate } from '@bufbuild/protobuf/wkt';

/** A value that protobuf allows but PostgreSQL or JSON cannot store. */
export interface ValueFault {
  /** Path of the field, in proto names. */
  readonly field: string;
  /** The requirement, for people. */
  readonly must: string;
}

type Check = (value: unknown) => ValueFault | undefined;

/** The earliest accepted timestamp. */
const EARLIEST = Date.UTC(1900, 0, 1);
/** Exclusive upper bound: the last second of the year 9999 could round up to a five-digit year. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59);
const MAX_NANOS = 999_999_999;
/** JSON has neither infinities nor NaN. */
const NOT_JSON: ValueFault = { field: '', must: 'must hold finite numbers only' };

const checks = new Map<DescMessage, Check>();

/**
 * Finds the first value in a request that protobuf accepts but PostgreSQL or JSON does not: text with NUL or lone
 * surrogates, timestamps outside the years 1900 to 9999, non-finite JSON numbers. Undefined when all are storable.
 */
export function unstorableValue(type: DescMessage, message: Message): ValueFault | undefined {
  return checkOf(type)(message);
}

/** The check of a message type, built once; it visits only fields that can hold such values. */
function checkOf(type: DescMessage): Check {
  let check = checks.get(type);
  if (!check) {
    checks.set(type, (value) => check?.(value));
    check = buildCheck(type);
    checks.set(type, check);
  }
  return check;
}

function buildCheck(type: DescMessage): Check {
  if (type.typeName === TimestampSchema.typeName) return (value) => timestampFault(value as Timestamp);
  if (type.typeName === StructSchema.typeName) return (value) => jsonFault(value as JsonObject);
  const fields = type.fields.flatMap((field) => checkOfField(field) ?? []);
  return (message) => firstFault(fields, (check) => check(message));
}

function checkOfField(field: DescField): Check | undefined {
  const ofValue = checkOfValues(field);
  if (!ofValue) return undefined;
  return (message) => {
    const value = valueIn(field, message as Record<string, unknown>);
    const fault = value === undefined ? undefined : ofValue(value);
    return fault && { ...fault, field: fault.field ? `${field.name}.${fault.field}` : field.name };
  };
}

function checkOfValues(field: DescField): Check | undefined {
  const ofOne = field.message ? checkOf(field.message) : undefined;
  const check = ofOne ?? (field.scalar === ScalarType.STRING ? textFault : undefined);
  switch (field.fieldKind) {
    case 'list':
      return check && ((values) => firstFault(values as unknown[], check));
    case 'map':
      return (entries) =>
        firstFault(Object.entries(entries as object), ([key, value]) => textFault(key) ?? check?.(value));
    default:
      return check;
  }
}

function valueIn(field: DescField, message: Record<string, unknown>): unknown {
  if (!field.oneof) return message[field.localName];
  const chosen = message[field.oneof.localName] as { case?: string; value?: unknown };
  return chosen.case === field.localName ? chosen.value : undefined;
}

function textFault(text: unknown): ValueFault | undefined {
  const kept = !(text as string).includes('\0') && (text as string).isWellFormed();
  return kept ? undefined : { field: '', must: 'must be text without NUL' };
}

function timestampFault(timestamp: Timestamp): ValueFault | undefined {
  const { nanos } = timestamp;
  const at = timestampDate(timestamp).getTime();
  if (at >= EARLIEST && at < LATEST && nanos >= 0 && nanos <= MAX_NANOS) return undefined;
  return { field: '', must: 'must be a time in the years 1900 to 9999' };
}

/** Messages represent a Struct as plain JSON. */
function jsonFault(value: JsonValue): ValueFault | undefined {
  if (typeof value === 'string') return textFault(value);
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : NOT_JSON;
  if (typeof value !== 'object' || value === null) return undefined;
  return firstFault(Object.entries(value), ([key, member]) => textFault(key) ?? jsonFault(member));
}

function firstFault<T>(
  values: readonly T[],
  faultOf: (value: T) => ValueFault | undefined,
): ValueFault | undefined {
  for (const value of values) {
    const fault = faultOf(value);
    if (fault) return fault;
  }
  return undefined;
}
