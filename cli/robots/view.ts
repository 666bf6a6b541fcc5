import type { Schemas } from '@wheelhouse/sdk'
import type { Column } from '../table.ts'
import { statusPiece } from '../views.ts'

export const robotColumns: readonly Column<Schemas['Robot']>[] = [
  { title: 'ID', value: ({ id }) => id, whole: true },
  { title: 'NAME', value: ({ name }) => name },
  { title: 'TYPE', value: ({ robot_type }) => robot_type },
  { title: 'STATUS', value: ({ status }) => statusPiece(status), whole: true },
  { title: 'LAST HEARTBEAT', value: ({ last_heartbeat }) => last_heartbeat },
]
