import type { FeatureDependencies } from '../shell/feature.ts';
import { calendarPage } from './calendar.page.ts';
import { dayPage } from './day.page.ts';
import { projectionPage } from './projection.page.ts';

/** The receivables pages: balance and calendar, releases of a day, and projection. */
export function fundsPages(dependencies: FeatureDependencies): void {
  calendarPage(dependencies);
  projectionPage(dependencies);
  dayPage(dependencies);
}
