import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { requireProgram } from '../programs/installed-programs.ts'

const run = promisify(execFile)

/** Creates a certificate for names or IP addresses, signed by itself. `file` has it with its key, `authority` is what clients trust. */
export async function createTestCertificate(...hosts: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-tls-'))
  const [key, authority, file] = [join(folder, 'key'), join(folder, 'crt'), join(folder, 'pem')]
  const subjects = hosts.map((host) => (/^[\d.]+$/.test(host) ? `IP:${host}` : `DNS:${host}`))
  const algorithm = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const names = ['-subj', '/CN=wheelhouse', '-addext', `subjectAltName=${subjects.join(',')}`]
  const program = requireProgram('openssl', 'openssl')
  await run(program, ['req', '-x509', ...algorithm, ...names, '-keyout', key, '-out', authority])
  await writeFile(file, `${await readFile(authority, 'utf8')}${await readFile(key, 'utf8')}`)
  return { file, authority, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}
