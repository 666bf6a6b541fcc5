import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'

/** Runs a background job now. */
export async function run(cli: Context, id: string): Promise<void> {
  const job = await answerOf(cli.rest.POST('/api/admin/jobs/{id}/retry', { params: { path: { id } } }))
  cli.out.result(job, () => cli.out.line(`The job of ${job.queue} runs now.`))
}
