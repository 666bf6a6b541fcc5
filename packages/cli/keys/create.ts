import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { styled } from '../text.ts'

/** A new API key. On its own line of standard output, so that it can be piped on. */
export async function run(cli: Context, name: string, { expires }: { expires?: string }): Promise<void> {
  const body = { name, ...(expires !== undefined && { expires_at: expires }) }
  const key = await answerOf(cli.rest.POST('/api/auth/api-keys', { body }))
  cli.out.result(key, () => {
    cli.out.note(styled('bold', 'Your API key, shown this once:'))
    cli.out.line(key.key)
  })
}
