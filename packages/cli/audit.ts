import { createReadStream, createWriteStream } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import { describeAuditVerdict, verifyAudit } from '@wheelhouse/protocol'
import { answerOf } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { Failure } from './lib/failure.ts'
import { choice } from './lib/options.ts'
import { type InOrganization, inOrganization, organizationOf } from './lib/organization.ts'

export const commands = { audit: declareAudit }

/** Declares `wheelhouse audit …`. */
function declareAudit(audit: Command, action: CreateAction): void {
  inOrganization(audit.command('export'))
    .description('write the audit log of your organization, oldest first, with its chain of hashes')
    .addOption(
      choice(
        '-f, --format <format>',
        'file format; only ndjson can be verified',
        ['ndjson', 'csv'],
        'ndjson',
      ),
    )
    .option('-o, --output <file>', 'write to this file; - for standard output', '-')
    .action(action(exportAudit))
  audit
    .command('verify')
    .description('verify an export offline: that no row was changed, added or removed; needs no platform')
    .argument('[file]', 'an export as NDJSON; - for standard input', '-')
    .option('--head <hash>', 'a hash that you noted earlier, which the export has to contain')
    .action(action(verify))
}

interface ExportOptions extends InOrganization {
  readonly format: 'ndjson' | 'csv'
  readonly output: string
}

/** Writes the chain of an organization. */
async function exportAudit(cli: Context, options: ExportOptions): Promise<void> {
  const { format, output } = options
  const { id, headers } = await organizationOf(cli, options)
  const request = cli.rest.GET('/api/organizations/{id}/audit', {
    params: { path: { id }, query: { format } },
    headers,
    parseAs: 'stream',
  })
  const chunks = (await answerOf(request)) as unknown as AsyncIterable<Uint8Array>
  if (output === '-') return await pipeline(chunks, cli.terminal.stdout, { end: false })
  await pipeline(chunks, createWriteStream(output))
  if (cli.out.json) cli.out.document({ format, path: resolve(output) })
  else cli.out.note(`audit log written to ${output}`)
}

/** Verifies an export. A broken chain is a failure. */
async function verify(cli: Context, file: string, { head }: { head?: string }): Promise<void> {
  const input = file === '-' ? cli.terminal.stdin : createReadStream(file)
  const unreadable = new Promise<never>((_resolve, reject) => {
    input.once('error', (cause: Error) =>
      reject(new Failure('usage', `${file} cannot be read: ${cause.message}`, { cause })),
    )
  })
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  const verdict = await Promise.race([verifyAudit(lines, { head }), unreadable])
  if (!verdict.ok) throw new Failure('refused', describeAuditVerdict(verdict))
  cli.out.result(verdict, () => cli.out.line(describeAuditVerdict(verdict)))
}
