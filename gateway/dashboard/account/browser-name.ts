/** In this order: those above say that they are those below, too. */
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
const LONGEST = 60;

/** What a User-Agent header says in few words, `Firefox 140, Linux`; its beginning when it says nothing known. */
export function browserName(userAgent: string): string {
  const browser = BROWSERS.find(([, version]) => version.test(userAgent));
  if (!browser) return userAgent.slice(0, LONGEST);
  const [name, version] = browser;
  const system = SYSTEMS.find(([, sign]) => sign.test(userAgent));
  return [`${name} ${version.exec(userAgent)![1]}`, system?.[0]].filter(Boolean).join(', ');
}
