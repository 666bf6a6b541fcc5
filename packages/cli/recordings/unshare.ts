import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { findUnique, isFullId } from '../ids.ts'
import { findRecording } from './recording-lookup.ts'

/** Revokes a link of a recording. */
export async function run(cli: Context, idOrPrefix: string, shareIdOrPrefix: string): Promise<void> {
  const { id } = await findRecording(cli, idOrPrefix)
  const share = await shareId(cli, id, shareIdOrPrefix)
  const params = { path: { id, share } }
  await answerOf(cli.rest.DELETE('/api/recordings/{id}/shares/{share}', { params }))
  cli.out.result({ id: share, revoked: true }, () => cli.out.line(`The link ${share} is revoked.`))
}

async function shareId(cli: Context, id: string, idOrPrefix: string): Promise<string> {
  if (isFullId(idOrPrefix)) return idOrPrefix.toLowerCase()
  const { shares } = await answerOf(cli.rest.GET('/api/recordings/{id}/shares', { params: { path: { id } } }))
  return findUnique(shares, idOrPrefix, 'link', `recordings shares ${id}`).id
}
