import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';

const merchantIds = defineSearchAttributeKey('MerchantIds', 'KEYWORD_LIST');
const subscriptionIds = defineSearchAttributeKey('SubscriptionIds', 'KEYWORD_LIST');
const requestIds = defineSearchAttributeKey('RequestIds', 'KEYWORD_LIST');
const eventType = defineSearchAttributeKey('EventType', 'KEYWORD');
const environment = defineSearchAttributeKey('Environment', 'KEYWORD');

/** What workflows are found by in the Temporal UI; a namespace needs all of them. */
export const SEARCH_ATTRIBUTES = [merchantIds, subscriptionIds, requestIds, eventType, environment];

/** What is known about a workflow; an empty list is left out. */
export interface Searchable {
  readonly environment: 'live' | 'test';
  readonly merchantIds?: readonly string[];
  readonly subscriptionIds?: readonly string[];
  readonly requestIds?: readonly string[];
  readonly eventType?: string | undefined;
}

/** The search attributes to start a workflow with. */
export function searchAttributesOf(known: Searchable): SearchAttributePair[] {
  const lists = [
    { key: merchantIds, value: [...(known.merchantIds ?? [])] },
    { key: subscriptionIds, value: [...(known.subscriptionIds ?? [])] },
    { key: requestIds, value: [...(known.requestIds ?? [])] },
  ];
  return [
    { key: environment, value: known.environment },
    ...lists.filter(({ value }) => value.length > 0),
    ...(known.eventType ? [{ key: eventType, value: known.eventType }] : []),
  ];
}
