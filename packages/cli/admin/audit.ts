import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime } from '../views.ts'

interface Options {
  readonly actor?: string
  readonly subject?: string
  readonly action?: string
  readonly since?: string
  readonly until?: string
  readonly limit: number
}

/** Prints the audit log. */
export async function run(cli: Context, { actor, subject, ...rest }: Options): Promise<void> {
  const query = { ...rest, ...(actor && { actor_id: actor }), ...(subject && { subject_id: subject }) }
  const { entries } = await answerOf(cli.rest.GET('/api/admin/audit', { params: { query } }))
  cli.out.list(
    entries,
    [
      { title: 'NUMBER', value: ({ id }) => id, right: true },
      { title: 'WHEN', value: ({ at }) => formatTime(at) },
      { title: 'WHO', value: ({ actor_name, actor_id }) => actor_name ?? actor_id ?? 'the platform' },
      { title: 'WHAT', value: ({ action }) => action },
      { title: 'TO', value: ({ subject_type, subject_id }) => `${subject_type} ${subject_id}` },
      { title: 'MORE', value: ({ data }) => (Object.keys(data).length > 0 ? JSON.stringify(data) : '') },
    ],
    'No matching audit entries.',
  )
}
