import { fastify } from 'fastify';
import pg from 'pg';
import { announcePort } from './bench-process.ts';

/** What the service is measured against: Fastify and pg, one prepared statement, no key, no log, no validation. */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
const app = fastify();

app.get<{ Querystring: { merchant: string; limit: string } }>('/refund-cases', async ({ query }) => {
  const limit = Number(query.limit);
  const { rows } = await pool.query({
    name: 'list',
    text: `select * from refunds.refund_case where merchant_id = $1 and environment = 'live'
            order by requested_at desc, id desc limit $2`,
    values: [query.merchant, limit + 1],
  });
  return { data: rows.slice(0, limit), hasMore: rows.length > limit };
});

await announcePort(app);
