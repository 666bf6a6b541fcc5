import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { styled } from '../text.ts'
import { formatTime } from '../views.ts'
import { findRecording } from './recording-lookup.ts'

/** Creates a link to a recording. Standard output contains only the link, so that you can pipe it. */
export async function run(cli: Context, idOrPrefix: string, { hours }: { hours: number }): Promise<void> {
  const { id } = await findRecording(cli, idOrPrefix)
  const body = { expires_in_hours: hours }
  const share = await answerOf(
    cli.rest.POST('/api/recordings/{id}/shares', { params: { path: { id } }, body }),
  )
  cli.out.result(share, () => {
    const until = formatTime(share.expires_at)
    cli.out.note(
      styled('bold', `Anyone with this link can replay the recording until ${until}. It is shown only once:`),
    )
    cli.out.line(share.url)
  })
}
