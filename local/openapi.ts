import { openApiDocument } from './openapi-document.ts';

/** `npm run openapi [live|test]`: prints the document that the gateway serves, without a running system. */
const [environment = 'live'] = process.argv.slice(2);
if (environment !== 'live' && environment !== 'test') {
  console.error('usage: npm run openapi [live|test]');
  process.exit(2);
}
process.stdout.write(`${JSON.stringify(await openApiDocument(environment), null, 2)}\n`);
