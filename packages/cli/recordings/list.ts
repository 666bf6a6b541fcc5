import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { robotId } from '../ids.ts'
import { formatBytes } from '../views.ts'
import { recordingColumns } from './view.ts'

const PAGE = 100

/** Prints the recordings of the caller's robots and sessions, and how much of the quota they take. */
export async function run(
  cli: Context,
  { robot, limit }: { readonly robot?: string; readonly limit: number },
): Promise<void> {
  const filter = robot === undefined ? {} : { robot_id: await robotId(cli, robot) }
  const found: Schemas['Recording'][] = []
  let cursor: string | undefined
  let used = ''
  do {
    const query = {
      ...filter,
      ...(cursor !== undefined && { cursor }),
      limit: Math.min(PAGE, limit - found.length),
    }
    const page = await answerOf(cli.rest.GET('/api/recordings', { params: { query } }))
    found.push(...page.recordings)
    cursor = page.next_cursor ?? undefined
    const quota = page.quota_bytes === null ? '' : ` of ${formatBytes(page.quota_bytes)}`
    used = page.used_bytes > 0 ? `Your recordings take ${formatBytes(page.used_bytes)}${quota}.` : ''
  } while (cursor !== undefined && found.length < limit)
  cli.out.list(
    found,
    recordingColumns,
    'No recordings. Record a robot with: wheelhouse robots update --recording',
  )
  if (used) cli.out.note(used)
}
