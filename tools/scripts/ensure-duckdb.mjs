// Runs before the tests that read exported datasets with DuckDB: restores its library, 68 MB, which nothing else needs.
import { restoreFile } from './restore-package.mjs'

await restoreFile({
  label: 'DuckDB',
  scope: '@duckdb',
  prefix: 'node-bindings-',
  files: ['libduckdb.so', 'libduckdb.dylib', 'duckdb.dll'],
})
