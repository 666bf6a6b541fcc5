import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'

/** Removes a background job. */
export async function run(cli: Context, id: string): Promise<void> {
  const job = await answerOf(cli.rest.POST('/api/admin/jobs/{id}/discard', { params: { path: { id } } }))
  cli.out.result(job, () => cli.out.line(`The job of ${job.queue} is discarded.`))
}
