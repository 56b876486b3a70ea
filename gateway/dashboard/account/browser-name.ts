/** In this order, because the User-Agent of an earlier browser also names later ones. */
const BROWSERS: readonly (readonly [name: string, version: RegExp])[] = [
  ['Edge', /\bEdg(?:A|iOS)?\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+).*\bSafari\//],
];
const SYSTEMS: readonly (readonly [name: string, sign: RegExp])[] = [
  ['Windows', /\bWindows\b/],
  ['Android', /\bAndroid\b/],
  ['iOS', /\biPhone\b|\biPad\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
];
const MAX_LENGTH = 60;

/** Summarizes a User-Agent header, as in `Firefox 140, Linux`; the start of it when the browser is unknown. */
export function browserName(userAgent: string): string {
  const browser = BROWSERS.find(([, version]) => version.test(userAgent));
  if (!browser) return userAgent.slice(0, MAX_LENGTH);
  const [name, version] = browser;
  const system = SYSTEMS.find(([, sign]) => sign.test(userAgent));
  return [`${name} ${version.exec(userAgent)![1]}`, system?.[0]].filter(Boolean).join(', ');
}
