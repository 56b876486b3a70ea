import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { Compile } from 'typebox/compile';
import { afterAll, describe, expect, it } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { PublishEventRequest } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { EVENT_CATALOG } from '../../../../services/webhooks/events/event-types/event-catalog.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, newWrite, startHarness, type TestTenant } from '../../../support/harness.ts';
import { PAYMENT, webhooksFixture } from '../webhooks-fixture.ts';

const harness = await startHarness({ SERVICES: 'webhooks' });
afterAll(() => harness.close());

describe('EventService', () => {
  const fixture = () => webhooksFixture(harness, harness.transports.inProcess);
  const publish = (tenant: TestTenant, request: Partial<PublishEventRequest> = {}) =>
    fixture().events.publishEvent({
      ...newWrite(tenant),
      type: 'payment.succeeded.v1',
      objectId: randomUUID(),
      data: PAYMENT,
      ...request,
    });

  it('returns the event as it was published, amounts exact up to the upper bound', async () => {
    const tenant = newTenant();
    const { event } = await publish(tenant, { requestId: 'the causing request' });
    expect(event).toMatchObject({ ...tenant, requestId: 'the causing request', data: PAYMENT });
    const found = () => fixture().events.getEvent({ ...tenant, eventId: event!.id });
    expect((await found()).event).toEqual(event);
    expect(Math.abs(timestampDate(event!.timestamp!).getTime() - Date.now())).toBeLessThan(10_000);
    for (const other of [{ ...tenant, environment: Environment.TEST }, newTenant()]) {
      const response = fixture().events.getEvent({ ...other, eventId: event!.id });
      await expectRefusal(response, Code.NotFound, 'EVENT_NOT_FOUND');
      // Its objects are numbered separately, even those of the same id.
      const theirs = await publish(other, { objectId: event!.objectId });
      expect([event!.sequence, theirs.event!.sequence]).toEqual([1n, 1n]);
    }
  });

  it('rejects types that are not in the catalog, and the ping', async () => {
    for (const type of ['payment.succeeded.v2', 'webhook.ping.v1']) {
      await expectRefusal(publish(newTenant(), { type }), Code.InvalidArgument, 'INVALID_EVENT_TYPE', {
        field: 'type',
        event_type: type,
      });
    }
  });

  const { paidAt: _, ...unpaid } = PAYMENT;
  it.each([
    ['/amount', { ...PAYMENT, amount: 0 }],
    ['/amount', { ...PAYMENT, amount: 1.5 }],
    ['/amount', { ...PAYMENT, amount: '100' }],
    ['/id', { ...PAYMENT, id: 'x' }],
    ['/paidAt', unpaid],
    ['/paidAt', { ...PAYMENT, paidAt: 'yesterday' }],
    ['/status', { ...PAYMENT, status: 'FAILED' }],
    ['/note', { ...PAYMENT, note: 'unknown' }],
  ])('rejects invalid data, at %s', async (pointer, data) => {
    await expectRefusal(publish(newTenant(), { data }), Code.InvalidArgument, 'INVALID_EVENT_DATA', {
      field: 'data',
      pointer,
    });
  });

  it('points into nested data', async () => {
    const { example } = EVENT_CATALOG.find(({ name }) => name === 'refund.requested.v1')!;
    const data = { ...example, refundWindow: { days: 5, expiresAt: '2026-08-01T13:05:00.000Z' } };
    await expectRefusal(
      publish(newTenant(), { type: 'refund.requested.v1', data: data as JsonObject }),
      Code.InvalidArgument,
      'INVALID_EVENT_DATA',
      { pointer: '/refundWindow/days' },
    );
  });

  it.each([
    ['dispute.responded.v1', 'respondedAt'],
    ['dispute.closed.v1', 'closedAt'],
    ['dispute.closed.v1', 'outcome'],
    ['dispute.reversed.v1', 'closedAt'],
  ])('requires what has happened: in %s %s', async (type, member) => {
    const { [member]: _, ...data } = EVENT_CATALOG.find(({ name }) => name === type)!.example;
    await expectRefusal(
      publish(newTenant(), { type, data: data as JsonObject }),
      Code.InvalidArgument,
      'INVALID_EVENT_DATA',
      { pointer: `/${member}` },
    );
  });

  it('lists the catalog with a schema and a valid example each', async () => {
    const { eventTypes } = await fixture().events.listEventTypes({});
    expect(eventTypes.map(({ name }) => name)).toEqual(EVENT_CATALOG.map(({ name }) => name));
    for (const { name, description, dataSchema, dataExample } of eventTypes) {
      expect(name).toMatch(/^[a-z]+\.[a-z_]+\.v1$/);
      expect(description).not.toBe('');
      expect([...Compile(dataSchema as never).Errors(dataExample)]).toEqual([]);
    }
  });
});

describe('the catalog', () => {
  const DOMAIN = `refund.requested refund.merchant_decided refund.approved refund.review_started
    refund.deadline_approaching refund.funding_required refund.processing refund.succeeded refund.failed
    refund.canceled refund.rejected dispute.opened dispute.responded dispute.closed dispute.reversed product.created product.updated product.archived
    funds.released funds.blocked funds.unblocked advance.requested advance.approved advance.refused advance.released
    advance.settled payment.succeeded payment.failed`;

  it('has every event of the domain', () => {
    const names = EVENT_CATALOG.map(({ name }) => name).sort();
    expect(names).toEqual(
      DOMAIN.split(/\s+/)
        .map((name) => `${name}.v1`)
        .sort(),
    );
  });
});
