import type { Schemas } from '@wheelhouse/sdk'

export type ClientOverview = Schemas['ClientOverview']
