import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { styled } from '../text.ts'

/** Creates an API key. Standard output contains only the key, so that you can pipe it. */
export async function run(cli: Context, name: string, { expires }: { expires?: string }): Promise<void> {
  const body = { name, ...(expires !== undefined && { expires_at: expires }) }
  const key = await answerOf(cli.rest.POST('/api/auth/api-keys', { body }))
  cli.out.result(key, () => {
    cli.out.note(styled('bold', 'Your API key, shown only once:'))
    cli.out.line(key.key)
  })
}
