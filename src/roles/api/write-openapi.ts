import { readFileSync, writeFileSync } from 'node:fs'
import { personalDataTable } from '../../modules/identity/index.ts'
import { declaredEndpoints, STORED_BASE_URL } from './declared-endpoints.ts'
import { permissionsPage } from './docs/permissions-page.ts'
import { describeApi } from './openapi/document.ts'

// Writes the stored API description, docs/openapi.json, the page about permissions and the table in docs/data.md. Needs no database.
const endpoints = declaredEndpoints()
const document = describeApi({ endpoints, baseUrl: STORED_BASE_URL })
writeFileSync(
  new URL('../../../docs/openapi.json', import.meta.url),
  `${JSON.stringify(document, null, 2)}\n`,
)
writeFileSync(new URL('../../../docs/permissions.md', import.meta.url), permissionsPage(endpoints))

const dataPage = new URL('../../../docs/data.md', import.meta.url)
const table = personalDataTable()
const [head = ''] = table.split('\n')
const page = readFileSync(dataPage, 'utf8')
const before = page.slice(0, page.indexOf(head))
const after = page.slice(before.length).replace(/^(\|[^\n]*\n)+/, '')
writeFileSync(dataPage, `${before}${table}\n${after}`)
