import { writeFileSync } from 'node:fs'
import { declaredEndpoints, STORED_BASE_URL } from './declared-endpoints.ts'
import { permissionsPage } from './docs/permissions-page.ts'
import { describeApi } from './openapi/document.ts'

// Writes the stored API description, docs/openapi.json, and the page about permissions. Needs no database.
const endpoints = declaredEndpoints()
const document = describeApi({ endpoints, baseUrl: STORED_BASE_URL })
writeFileSync(
  new URL('../../../docs/openapi.json', import.meta.url),
  `${JSON.stringify(document, null, 2)}\n`,
)
writeFileSync(new URL('../../../docs/permissions.md', import.meta.url), permissionsPage(endpoints))
