import { expect, test } from 'vitest';
import { browserName } from '../../../../gateway/dashboard/account/browser-name.ts';

const GECKO = '(KHTML, like Gecko)';
const WEBKIT = `AppleWebKit/605.1.15 ${GECKO}`;

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox 140, Linux'],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 ${GECKO} Chrome/150.0.0.0 Safari/537.36`,
    'Chrome 150, Windows',
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 ${GECKO} Chrome/150.0.0.0 Safari/537.36 Edg/150.0`,
    'Edge 150, Windows',
  ],
  [
    `Mozilla/5.0 (Linux; Android 16; K) AppleWebKit/537.36 ${GECKO} Chrome/150.0.0.0 Mobile Safari/537.36`,
    'Chrome 150, Android',
  ],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/26.1 Safari/605.1.15`,
    'Safari 26, macOS',
  ],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) ${WEBKIT} Version/26.1 Mobile/15E148 Safari/604.1`,
    'Safari 26, iOS',
  ],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) ${WEBKIT} CriOS/150.0 Mobile/15E148 Safari/604.1`,
    'Chrome 150, iOS',
  ],
  ['curl/8.7.1', 'curl/8.7.1'],
  ['', ''],
  ['x'.repeat(300), 'x'.repeat(60)],
])('%s is %s', (userAgent, name) => {
  expect(browserName(userAgent)).toBe(name);
});
