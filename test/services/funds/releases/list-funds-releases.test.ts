import { testList } from '../../../support/list-suite.ts';
import { releaseList } from './release-list.ts';

testList('ListFundsReleases', 'funds', releaseList, [
  ['', 'release_pkey'],
  ['from', 'release_pkey'],
  ['status', 'release_of_status'],
]);
