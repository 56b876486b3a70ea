import { isGrpcServiceError } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import { retrying } from '../retrying.ts';
import { SEARCH_ATTRIBUTES } from './search-attributes.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;
const INDEXED_AS = {
  KEYWORD: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  KEYWORD_LIST: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
} as const;

const RETENTION_SECONDS = 7 * 24 * 60 * 60;
/** Longer than a server's parts keep what they know of namespaces. */
const KNOWN_AFTER_MS = 20_000;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;

/**
 * Makes the namespace fit: there, and with all search attributes. One made here keeps closed workflows for 7 days.
 * Throws the gRPC error of a server that does not let us, as hosted ones do: there it is the operators' work.
 */
export async function prepareNamespace(connection: NativeConnection, namespace: string): Promise<void> {
  const { workflowService, operatorService } = connection;
  const found = await workflowService.describeNamespace({ namespace }).catch(unless(NOT_FOUND));
  if (!found) await register(connection, namespace);
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = SEARCH_ATTRIBUTES.filter(({ name }) => customAttributes[name] === undefined);
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map(({ name, type }) => [name, INDEXED_AS[type]]));
  await operatorService.addSearchAttributes({ namespace, searchAttributes }).catch(unless(ALREADY_EXISTS));
  await awaitSearchAttributes(connection, namespace);
}

/** What was just made the server's front does not know at once: until then it refuses every workflow that has them. */
async function awaitSearchAttributes({ workflowService }: NativeConnection, namespace: string) {
  const query = SEARCH_ATTRIBUTES.map(({ name }) => `${name} = 'none'`).join(' and ');
  await untilKnown(() => workflowService.countWorkflowExecutions({ namespace, query }));
}

/** The server remembers for a second that there was none, as it was just asked: no call finds what is made until then. */
async function register({ workflowService, operatorService }: NativeConnection, namespace: string) {
  const request = proto.temporal.api.workflowservice.v1.RegisterNamespaceRequest.fromObject({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: RETENTION_SECONDS },
  });
  await workflowService.registerNamespace(request).catch(unless(ALREADY_EXISTS));
  await untilKnown(() => operatorService.listSearchAttributes({ namespace }));
}

const untilKnown = (call: () => Promise<unknown>) =>
  retrying(call, { forMs: KNOWN_AFTER_MS, codeOf: () => undefined });

/** Passes one gRPC code over, as undefined. */
const unless = (code: number) => (error: unknown) => {
  if (isGrpcServiceError(error) && Number(error.code) === code) return undefined;
  throw error;
};
