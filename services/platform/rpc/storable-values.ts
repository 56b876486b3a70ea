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

/** Returns the faults of a value, with paths below it; undefined, without an allocation, if it has none. */
type Check = (value: unknown) => FieldFault[] | undefined;

/** The earliest accepted timestamp. */
const EARLIEST = Date.UTC(1900, 0, 1);
/** Exclusive upper bound: the last second of the year 9999 could round up to a five-digit year. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59);
const MAX_NANOS = 999_999_999;
/** JSON has neither infinities nor NaN. */
const NOT_JSON: FieldFault[] = [{ field: '', must: 'must hold finite numbers only' }];
const NOT_TEXT: FieldFault[] = [{ field: '', must: 'must be text without NUL' }];
const NOT_A_TIME: FieldFault[] = [{ field: '', must: 'must be a time in the years 1900 to 9999' }];

const checks = new Map<DescMessage, Check>();

/**
 * Finds the values in a request that protobuf accepts but PostgreSQL or JSON does not: text with NUL or lone
 * surrogates, timestamps outside the years 1900 to 9999, non-finite JSON numbers. Undefined when all are storable.
 */
export function unstorableValues(type: DescMessage, message: Message): FieldFault[] | undefined {
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
  return (message) => allFaults(fields, (check) => check(message));
}

function checkOfField(field: DescField): Check | undefined {
  const ofValue = checkOfValues(field);
  if (!ofValue) return undefined;
  return (message) => {
    const value = valueIn(field, message as Record<string, unknown>);
    const faults = value === undefined ? undefined : ofValue(value);
    return faults?.map((fault) => ({ ...fault, field: within(field.name, fault.field) }));
  };
}

/** The path of a field in a message, or of an element in a list. */
const within = (name: string, path: string) =>
  path === '' || path.startsWith('[') ? `${name}${path}` : `${name}.${path}`;

function checkOfValues(field: DescField): Check | undefined {
  const ofOne = field.message ? checkOf(field.message) : undefined;
  const check = ofOne ?? (field.scalar === ScalarType.STRING ? textFault : undefined);
  switch (field.fieldKind) {
    case 'list':
      return check && ((values) => elementFaults(values as unknown[], check));
    case 'map':
      return (entries) =>
        allFaults(Object.entries(entries as object), ([key, value]) => textFault(key) ?? check?.(value));
    default:
      return check;
  }
}

function valueIn(field: DescField, message: Record<string, unknown>): unknown {
  if (!field.oneof) return message[field.localName];
  const chosen = message[field.oneof.localName] as { case?: string; value?: unknown };
  return chosen.case === field.localName ? chosen.value : undefined;
}

function textFault(text: unknown): FieldFault[] | undefined {
  const kept = !(text as string).includes('\0') && (text as string).isWellFormed();
  return kept ? undefined : NOT_TEXT;
}

function timestampFault(timestamp: Timestamp): FieldFault[] | undefined {
  const { nanos } = timestamp;
  const at = timestampDate(timestamp).getTime();
  return at >= EARLIEST && at < LATEST && nanos >= 0 && nanos <= MAX_NANOS ? undefined : NOT_A_TIME;
}

/** Messages represent a Struct as plain JSON. Its first fault is enough: they have no paths. */
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

function elementFaults(values: readonly unknown[], check: Check): FieldFault[] | undefined {
  let index = -1;
  return allFaults(values, (value) => {
    index += 1;
    return check(value)?.map((fault) => ({ ...fault, field: within(`[${index}]`, fault.field) }));
  });
}

function allFaults<T>(
  values: readonly T[],
  faultsOf: (value: T) => FieldFault[] | undefined,
): FieldFault[] | undefined {
  let all: FieldFault[] | undefined;
  for (const value of values) {
    const faults = faultsOf(value);
    if (faults) all = all ? [...all, ...faults] : faults;
  }
  return all;
}
