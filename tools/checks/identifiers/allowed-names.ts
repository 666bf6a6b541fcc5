/** Exceptions from the banned words. Each is an exact name with the reason why it stays. */
export interface AllowedName {
  readonly name: string
  /** Where the exception applies: the beginning of a path. Everywhere when missing. */
  readonly under?: string
  readonly reason: string
}

export const allowedNames: readonly AllowedName[] = [
  { name: 'company_name', reason: 'published field of the client profile' },
  {
    name: 'companyName',
    under: 'src/modules/clients/',
    reason: 'column of the published field company_name',
  },
  { name: 'standing', reason: 'published field of the telemetry of the simulated robot' },
  { name: 'isStanding', under: 'packages/sdk/', reason: 'deprecated alias until 0.3' },
  { name: 'WatcherLink', under: 'packages/sdk/', reason: 'deprecated alias until 0.3' },
  { name: 'WatcherLinkOptions', under: 'packages/sdk/', reason: 'deprecated alias until 0.3' },
  { name: 'cast', under: 'src/modules/sessions/export/', reason: 'option of csv-stringify' },
  { name: 'cast', under: 'packages/cli/export/', reason: 'option of csv-stringify' },
  { name: 'WatcherFrame', under: 'packages/protocol/', reason: 'deprecated alias until 0.3' },
  { name: 'watcherFrameTypes', under: 'packages/protocol/', reason: 'deprecated alias until 0.3' },
  { name: 'onGatheringStateChange', under: 'packages/sdk/', reason: 'method of node-datachannel' },
]

/** Folders whose names are history: a migration keeps the words of its time. */
export const HISTORY = ['src/app/database/migrations/']
