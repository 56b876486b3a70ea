import { globSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  DeliveryService,
  EventService,
  WebhookSubscriptionService,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { SEARCH_ATTRIBUTES } from '../../../workflows/temporal/search-attributes.ts';
import * as workflows from '../../../workflows/workflows.ts';

const FOLDER = new URL('../../../docs/operations/', import.meta.url);
const ALERTS = new URL('../../../services/webhooks/alerts.yaml', import.meta.url);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MOST_BYTES = 150_000;
const guide = readFileSync(new URL('webhooks.md', FOLDER), 'utf8');
const named = (pattern: RegExp) => new Set([...guide.matchAll(pattern)].map(([, name]) => name!));

describe('the guide for operations', () => {
  it('has every picture that it shows, and no large ones', () => {
    const pictures = [...named(/!\[[^\]]+\]\(([a-z-]+\.png)\)/g)];
    expect(pictures.length).toBeGreaterThan(5);
    for (const picture of pictures)
      expect(statSync(new URL(picture, FOLDER)).size, picture).toBeLessThan(MOST_BYTES);
  });

  it('calls existing RPCs, including all by which operations act on deliveries', () => {
    const rpcs = [DeliveryService, EventService, WebhookSubscriptionService].flatMap(({ name, methods }) =>
      methods.map((method) => `${name}/${method.name}`),
    );
    const called = named(/\b(\w+Service\/\w+)/g);
    expect(rpcs).toEqual(expect.arrayContaining([...called]));
    for (const rpc of [
      'RetryDelivery',
      'CancelDelivery',
      'ResendDeliveries',
      'GetDelivery',
      'ListDeliveries',
    ])
      expect(called).toContain(`DeliveryService/${rpc}`);
  });

  it('has every alert, and links to existing headings', () => {
    const alerts = [...readFileSync(ALERTS, 'utf8').matchAll(/- alert: (\w+)/g)];
    expect(alerts.length).toBeGreaterThan(10);
    for (const [, alert] of alerts) expect(guide).toContain(`\`${alert}\``);
    const headings = [...named(/^###? (.+)$/gm)].map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^a-z ]/g, '')
        .replaceAll(' ', '-'),
    );
    expect(headings).toEqual(expect.arrayContaining([...named(/\]\(#([a-z-]+)\)/g)]));
  });

  it('searches for existing attributes and workflows', () => {
    const attributes = SEARCH_ATTRIBUTES.map(({ name }) => name);
    const searched = named(/\b(\w+) = "/g);
    expect([...attributes, 'WorkflowType', 'ExecutionStatus']).toEqual(expect.arrayContaining([...searched]));
    expect(searched.size).toBeGreaterThan(5);
    expect(Object.keys(workflows)).toEqual(expect.arrayContaining([...named(/WorkflowType = "(\w+)"/g)]));
  });
});

it('the log lines that alerts quote are logged', () => {
  const { groups }: { groups: { rules: { annotations: { action: string } }[] }[] } = parse(
    readFileSync(ALERTS, 'utf8'),
  );
  const actions = groups.flatMap(({ rules }) => rules.map(({ annotations }) => annotations.action)).join(' ');
  const quoted = [...actions.matchAll(/"([^"]+)"/g)].map(([, line]) => line!);
  expect(quoted.length).toBeGreaterThan(2);
  const sources = globSync('{services,workflows}/**/*.ts', { cwd: ROOT })
    .map((file) => readFileSync(`${ROOT}${file}`, 'utf8'))
    .join('\n');
  expect(quoted.filter((line) => !sources.includes(line))).toEqual([]);
});
