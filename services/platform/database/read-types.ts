import type { Timestamp } from '@bufbuild/protobuf/wkt';
import pg from 'pg';

const { INT8, TIMESTAMPTZ, DATE } = pg.types.builtins;

/**
 * Parses PostgreSQL's text form of a timestamptz in UTC ("2026-11-21 07:09:28.123+00") directly to a protobuf Timestamp.
 * Skipping Date matters: lists of fifty rows with five timestamps each are on the hot path.
 */
function parseTimestamp(text: string): Timestamp {
  const milliseconds = Date.parse(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`);
  const seconds = Math.floor(milliseconds / 1000);
  return {
    $typeName: 'google.protobuf.Timestamp',
    seconds: BigInt(seconds),
    nanos: (milliseconds - seconds * 1000) * 1_000_000,
  };
}

/** Type parsers of hot reads: values in the form that messages use. */
export const readTypes = new pg.TypeOverrides();
readTypes.setTypeParser(INT8, (text) => BigInt(text));
readTypes.setTypeParser(TIMESTAMPTZ, parseTimestamp);
readTypes.setTypeParser(DATE, (text) => text);
