import { type Connection, isGrpcServiceError } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import { retrying } from '../retrying.ts';
import { SEARCH_ATTRIBUTES } from './search-attributes.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;
const INDEXED_AS = {
  KEYWORD: { type: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD, name: 'Keyword' },
  KEYWORD_LIST: { type: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST, name: 'KeywordList' },
} as const;

/** How long closed workflows are kept. */
export const RETENTION_SECONDS = 7 * 24 * 60 * 60;
/** Longer than the server's services cache namespaces. */
const CACHE_EXPIRY_MS = 20_000;
const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const PERMISSION_DENIED = 7;

type Services = Pick<NativeConnection | Connection, 'workflowService' | 'operatorService'>;

/**
 * Makes sure that the namespace exists and has all search attributes. A namespace created here keeps closed workflows
 * for 7 days. If the server does not permit this, as Temporal Cloud, operators prepare the namespace: throws an error
 * that says what they have to create, unless it is there.
 */
export async function prepareNamespace(connection: Services, namespace: string): Promise<void> {
  try {
    await createMissing(connection, namespace);
  } catch (error) {
    if (codeOf(error) !== PERMISSION_DENIED) throw error;
    const missing = await findMissing(connection, namespace);
    if (missing.length === 0) return;
    const listed = missing.map(({ name, type }) => `${name} (${INDEXED_AS[type].name})`).join(', ');
    const message = `Temporal does not let the worker do this: create in the namespace ${namespace} the search attributes ${listed}`;
    throw new Error(message, { cause: error });
  }
}

/** Asks as clients without rights of administration may: a query for an attribute that does not exist is invalid. */
async function findMissing({ workflowService }: Services, namespace: string) {
  const missing: (typeof SEARCH_ATTRIBUTES)[number][] = [];
  for (const attribute of SEARCH_ATTRIBUTES) {
    const query = `${attribute.name} = 'none'`;
    const counted = workflowService.countWorkflowExecutions({ namespace, query });
    if (!(await counted.catch(unless(INVALID_ARGUMENT)))) missing.push(attribute);
  }
  return missing;
}

async function createMissing(connection: Services, namespace: string): Promise<void> {
  const { workflowService, operatorService } = connection;
  const found = await workflowService.describeNamespace({ namespace }).catch(unless(NOT_FOUND));
  if (!found) await register(connection, namespace);
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = SEARCH_ATTRIBUTES.filter(({ name }) => customAttributes[name] === undefined);
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map(({ name, type }) => [name, INDEXED_AS[type].type]));
  await operatorService.addSearchAttributes({ namespace, searchAttributes }).catch(unless(ALREADY_EXISTS));
  await awaitSearchAttributes(connection, namespace);
}

/** The frontend learns of new search attributes with a delay, and rejects workflows that have them until then. */
async function awaitSearchAttributes({ workflowService }: Services, namespace: string) {
  const query = SEARCH_ATTRIBUTES.map(({ name }) => `${name} = 'none'`).join(' and ');
  await untilVisible(() => workflowService.countWorkflowExecutions({ namespace, query }));
}

/** The server caches for a second that the namespace did not exist, so calls fail until then. */
async function register({ workflowService, operatorService }: Services, namespace: string) {
  const request = proto.temporal.api.workflowservice.v1.RegisterNamespaceRequest.fromObject({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: RETENTION_SECONDS },
  });
  await workflowService.registerNamespace(request).catch(unless(ALREADY_EXISTS));
  await untilVisible(() => operatorService.listSearchAttributes({ namespace }));
}

const untilVisible = (call: () => Promise<unknown>) =>
  retrying(call, { forMs: CACHE_EXPIRY_MS, codeOf: () => undefined });

/** Turns errors with this gRPC code into undefined and rethrows the others. */
const unless = (code: number) => (error: unknown) => {
  if (codeOf(error) === code) return undefined;
  throw error;
};

const codeOf = (error: unknown) => (isGrpcServiceError(error) ? Number(error.code) : undefined);
