import { MAX_POINTER_SHOWN } from '../problems/problem.ts';

/** A parsed query: each parameter once; or a description of the fault. */
export interface ParsedQuery {
  [parameter: string]: unknown;
  [QUERY_FAULT]?: string;
}

/** The member that describes why a query could not be parsed. */
export const QUERY_FAULT = Symbol('query fault');

const NO_QUERY: ParsedQuery = Object.freeze(Object.create(null));

/**
 * Parses a query string, strictly: a repeated parameter, a broken percent-encoding, invalid UTF-8 and NUL are faults. It
 * never throws, because it runs before the request's error handling; validation reports the fault.
 */
export function parseQuery(text: string): ParsedQuery {
  if (text === '') return NO_QUERY;
  const query: ParsedQuery = Object.create(null);
  for (const part of text.split('&')) {
    if (part === '') continue;
    const separator = part.indexOf('=');
    const name = decoded(separator < 0 ? part : part.slice(0, separator));
    const value = decoded(separator < 0 ? '' : part.slice(separator + 1));
    const fault = faultOf(query, name, value);
    if (fault !== undefined) return { [QUERY_FAULT]: fault };
    query[name!] = value;
  }
  return query;
}

function faultOf(
  query: ParsedQuery,
  name: string | undefined,
  value: string | undefined,
): string | undefined {
  if (name === undefined) return 'The query must be percent-encoded UTF-8.';
  const parameter = `Query parameter '${name.slice(0, MAX_POINTER_SHOWN)}'`;
  if (value === undefined) return `${parameter} must be percent-encoded UTF-8.`;
  if (value.includes('\0')) return `${parameter} must not contain NUL.`;
  if (name in query) return `${parameter} must not be repeated.`;
  return undefined;
}

function decoded(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}
