import { Code } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import {
  PaymentMethod,
  PriceInterval,
  PriceType,
  ProductStatus,
} from '../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { startHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/sql.ts';
import { catalogMerchant } from './catalog-merchant.ts';

const statements: string[] = [];
const harness = await startHarness({ SERVICES: 'catalog' }, (sql) => statements.push(sql));
afterAll(() => harness.close());
const newMerchant = () => catalogMerchant(harness.transports.inProcess);

const MOVES = ['update', 'activate', 'archive', 'price', 'offer', 'retirePrice', 'retireOffer'] as const;
/** What each state allows. A product has one current price with one offer, except for a bare draft. */
const ALLOWED: Readonly<Record<string, readonly (typeof MOVES)[number][]>> = {
  DRAFT: ['update', 'activate', 'price', 'offer', 'retirePrice', 'retireOffer'],
  ACTIVE: ['update', 'archive', 'price', 'offer', 'retirePrice', 'retireOffer'],
  ARCHIVED: ['retirePrice', 'retireOffer'],
};

describe('the states of a product', () => {
  const cases = Object.keys(ALLOWED).flatMap((state) => MOVES.map((move) => ({ state, move })));
  it.each(cases)('$state and $move', async ({ state, move }) => {
    const merchant = newMerchant();
    const { id } = await merchant.draft();
    const prices = [await merchant.price(id), await merchant.price(id)];
    const offer = await merchant.offer(prices[0]!.id);
    if (state !== 'DRAFT') await merchant.activate(id);
    if (state === 'ARCHIVED') await merchant.archive(id);
    const moves = {
      update: () => merchant.update(id, ['name'], { name: 'Other' }),
      activate: () => merchant.activate(id),
      archive: () => merchant.archive(id),
      price: () => merchant.price(id),
      offer: () => merchant.offer(prices[1]!.id),
      retirePrice: () => merchant.retirePrice(prices[1]!.id),
      retireOffer: () => merchant.retireOffer(offer.id),
    };
    const events = await eventsOf(id);
    if (ALLOWED[state]!.includes(move)) {
      await moves[move]();
      const type = move === 'archive' ? 'product.archived.v1' : 'product.updated.v1';
      const expected = [...events, { type, sequence: events.length + 1 }];
      expect(await eventsOf(id)).toEqual(expected);
    } else {
      await expectRefusal(moves[move](), Code.FailedPrecondition, 'PRODUCT_STATE', { state });
      expect(await eventsOf(id)).toEqual(events);
    }
  });
});

describe('UpdateProduct', () => {
  const imageAssetId = '5b0a1c0e-8a5f-4d3c-9e21-7f1f5a9c2b10';
  const full = { description: 'Ten lessons', imageAssetId, imageUrl: 'https://cdn.example/c.png' };

  it('sets the fields in the mask, clears those without a value and leaves the others', async () => {
    const merchant = newMerchant();
    const { id } = await merchant.draft();
    const paths = ['description', 'image_asset_id', 'image_url'];
    expect(await merchant.update(id, paths, full)).toMatchObject({ name: 'Course', ...full });
    const values = { name: 'Short course', refundWindowDays: 90 };
    const renamed = await merchant.update(id, ['name', 'refund_window_days'], values);
    expect(renamed).toMatchObject({ ...values, ...full });
    const cleared = await merchant.update(id, ['image_url', 'image_asset_id']);
    expect(cleared).toMatchObject({ ...values, description: 'Ten lessons' });
    expect([cleared.imageUrl, cleared.imageAssetId]).toEqual([undefined, undefined]);
    expect(await merchant.get(id)).toEqual(cleared);
  });

  it('publishes an event only if a value changes', async () => {
    const merchant = newMerchant();
    const product = await merchant.draft();
    const same = await merchant.update(product.id, ['name', 'description'], { name: 'Course' });
    expect(same.updatedAt).toEqual(product.updatedAt);
    expect(await eventsOf(product.id)).toEqual([{ type: 'product.created.v1', sequence: 1 }]);
    await merchant.update(product.id, ['description'], { description: 'Ten lessons' });
    const [event] = await sqlOf(
      harness,
      `select body::json -> 'data' as data from webhooks.event
        where object_id = $1 and type = 'product.updated.v1'`,
      [product.id],
    );
    expect(event).toMatchObject({ data: { name: 'Course', description: 'Ten lessons' } });
  });

  it.each([
    ['no mask', undefined, {}, 'INVALID_ARGUMENT', 'update_mask'],
    ['an empty mask', [], { name: 'Other' }, 'UPDATE_MASK', 'update_mask'],
    ['another field', ['status'], {}, 'UPDATE_MASK', 'update_mask'],
    ['a member of every object', ['constructor'], {}, 'UPDATE_MASK', 'update_mask'],
    ['a name that JSON cannot write', ['Name__'], {}, 'UPDATE_MASK', 'update_mask'],
    [
      'a value that is not named',
      ['name'],
      { name: 'Other', description: 'x' },
      'UPDATE_MASK',
      'description',
    ],
    ['a missing name', ['name'], {}, 'UPDATE_MASK', 'name'],
    ['a missing window', ['refund_window_days'], {}, 'UPDATE_MASK', 'refund_window_days'],
    ['an empty name', ['name'], { name: '' }, 'INVALID_ARGUMENT', 'name'],
    ['a long name', ['name'], { name: 'x'.repeat(201) }, 'INVALID_ARGUMENT', 'name'],
    [
      'a short window',
      ['refund_window_days'],
      { refundWindowDays: 6 },
      'INVALID_ARGUMENT',
      'refund_window_days',
    ],
    [
      'a long window',
      ['refund_window_days'],
      { refundWindowDays: 91 },
      'INVALID_ARGUMENT',
      'refund_window_days',
    ],
    ['a long text', ['description'], { description: 'x'.repeat(4001) }, 'INVALID_ARGUMENT', 'description'],
    ['an image without a host', ['image_url'], { imageUrl: 'https:///i' }, 'INVALID_ARGUMENT', 'image_url'],
    ['an image with a space', ['image_url'], { imageUrl: 'https://a/i j' }, 'INVALID_ARGUMENT', 'image_url'],
    ['an image by http', ['image_url'], { imageUrl: 'http://a.example/i' }, 'INVALID_ARGUMENT', 'image_url'],
    [
      'an asset without an id',
      ['image_asset_id'],
      { imageAssetId: 'a' },
      'INVALID_ARGUMENT',
      'image_asset_id',
    ],
  ])('rejects %s', async (_, paths, values, reason, field) => {
    const merchant = newMerchant();
    const { id: productId } = await merchant.draft();
    const request = { ...merchant.write(), productId, ...(paths && { updateMask: { paths } }), ...values };
    const refused = merchant.client.updateProduct(request);
    await expectRefusal(refused, Code.InvalidArgument, reason, { field });
    expect((await merchant.get(productId)).name).toBe('Course');
  });
});

describe('prices and offers', () => {
  it('an active product needs a current price, and keeps its last one', async () => {
    const merchant = newMerchant();
    const { id } = await merchant.draft();
    const without = merchant.activate(id);
    await expectRefusal(without, Code.FailedPrecondition, 'PRODUCT_WITHOUT_PRICE', { state: 'DRAFT' });
    const first = await merchant.price(id);
    await merchant.activate(id);
    const retire = () => merchant.retirePrice(first.id);
    const active = { state: 'ACTIVE' };
    await expectRefusal(retire(), Code.FailedPrecondition, 'LAST_PRICE_OF_ACTIVE_PRODUCT', active);
    const second = await merchant.price(id);
    expect((await retire()).prices).toEqual([second]);
    expect((await retire()).prices).toEqual([second]);
  });

  it('are immutable: another price leaves the first unchanged, and retiring a price retires its offers', async () => {
    const merchant = newMerchant();
    const { id } = await merchant.draft();
    const first = await merchant.price(id);
    const offer = await merchant.offer(first.id);
    const other = await merchant.price(id, { amountMinor: 6_000n });
    const kept = await merchant.offer(other.id);
    expect(await merchant.get(id)).toMatchObject({ prices: [first, other], offers: [offer, kept] });
    await merchant.retirePrice(first.id);
    expect(await merchant.get(id)).toMatchObject({ prices: [other], offers: [kept] });
    const late = merchant.offer(first.id);
    await expectRefusal(late, Code.FailedPrecondition, 'PRICE_RETIRED', { state: 'RETIRED' });
  });

  it.each([
    [PriceType.ONE_TIME, { interval: PriceInterval.MONTH, intervalCount: 1 }],
    [PriceType.ONE_TIME, { interval: PriceInterval.MONTH }],
    [PriceType.ONE_TIME, { intervalCount: 1 }],
    [PriceType.RECURRING, { interval: PriceInterval.MONTH }],
    [PriceType.RECURRING, { intervalCount: 1 }],
    [PriceType.RECURRING, {}],
  ])('a price of type %s has no interval %j', async (type, interval) => {
    const merchant = newMerchant();
    const { id } = await merchant.draft();
    const priced = merchant.price(id, { type, ...interval });
    await expectRefusal(priced, Code.InvalidArgument, 'PRICE_INTERVAL', { field: 'interval' });
  });

  it('an offer ends after it starts', async () => {
    const merchant = newMerchant();
    const { id } = await merchant.draft();
    const { id: priceId } = await merchant.price(id);
    const startsAt = { seconds: 1_600_000_000n };
    for (const endsAt of [startsAt, { seconds: 1_500_000_000n }]) {
      const offered = merchant.offer(priceId, { startsAt, endsAt });
      await expectRefusal(offered, Code.InvalidArgument, 'OFFER_PERIOD', { field: 'ends_at' });
    }
  });

  it('a price retired while it gets an offer leaves no offer of a retired price', async () => {
    const merchant = newMerchant();
    const { id } = await merchant.draft();
    for (let round = 0; round < 5; round += 1) {
      const { id: priceId } = await merchant.price(id);
      const race = [merchant.offer(priceId), merchant.retirePrice(priceId), merchant.offer(priceId)];
      await Promise.allSettled(race);
    }
    expect(await merchant.get(id)).toMatchObject({ prices: [], offers: [] });
  });

  it('a product shows its offers from their start to their end', async () => {
    const merchant = newMerchant();
    const { id } = await merchant.draft();
    const { id: priceId } = await merchant.price(id);
    const inSeconds = (seconds: number) => ({ seconds: BigInt(Math.floor(Date.now() / 1000) + seconds) });
    await merchant.offer(priceId, { startsAt: inSeconds(-20), endsAt: inSeconds(-10) });
    await merchant.offer(priceId, { startsAt: inSeconds(600) });
    const current = await merchant.offer(priceId, { startsAt: inSeconds(-20), endsAt: inSeconds(600) });
    expect((await merchant.get(id)).offers).toEqual([current]);
    expect((await merchant.update(id, ['name'], { name: 'Other' })).offers).toEqual([current]);
  });
});

it('returns a product with its current prices and offers in one statement, with exact amounts', async () => {
  const merchant = newMerchant();
  const { id } = await merchant.draft();
  const monthly = { type: PriceType.RECURRING, interval: PriceInterval.MONTH, intervalCount: 1 };
  const price = await merchant.price(id, { amountMinor: 9_007_199_254_740_991n, ...monthly });
  const paymentMethods = [PaymentMethod.CARD, PaymentMethod.INSTANT_TRANSFER];
  const offer = await merchant.offer(price.id, { paymentMethods, maxInstallments: 6 });
  statements.length = 0;
  const product = await merchant.get(id);
  expect(product).toMatchObject({
    name: 'Course',
    status: ProductStatus.DRAFT,
    prices: [price],
    offers: [offer],
  });
  expect(product.prices[0]).toMatchObject({ amountMinor: 9_007_199_254_740_991n, ...monthly });
  expect(product.offers[0]).toMatchObject({ priceId: price.id, paymentMethods, maxInstallments: 6 });
  expect(statements).toEqual([expect.stringMatching(/price.*offer.*product/s)]);
});

async function eventsOf(objectId: string) {
  const ordered = 'select type, sequence::int from webhooks.event where object_id = $1 order by sequence';
  return sqlOf<{ type: string; sequence: number }>(harness, ordered, [objectId]);
}
