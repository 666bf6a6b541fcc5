// Writes the types of the operations of the REST API for Python: the stub of wheelhouse/rest.py.

/** Types of JSON Schema in Python. Everything else is Any. */
const TYPES = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  array: 'Sequence[Any]',
  object: 'Mapping[str, Any]',
}
/** Names that Python reserves. With an underscore behind, they are arguments. */
const RESERVED = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if import in is
  lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
)

const HEAD = `from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

MAX_ATTEMPTS: int
MAX_RETRY_WAIT_S: float

@dataclass(frozen=True)
class Operation:
    name: str
    method: str
    path: str
    summary: str
    path_names: frozenset[str]
    query_names: frozenset[str]
    body_names: frozenset[str]
    required: frozenset[str]
    content_type: str | None

def snake_case(name: str) -> str: ...
def operations() -> dict[str, Operation]: ...
def every_entry(page: Callable[[Any, int], Sequence[Any]]) -> Iterator[Any]: ...

class Api:
    base_url: str
    token: str | None
    def __init__(self, base_url: str, token: str | None = None, *, attempts: int = ..., limit_s: float = ...) -> None: ...
`

/**
 * Returns the text of the stub.
 * @param document the OpenAPI document
 */
export function restStub(document) {
  const methods = Object.values(document.paths)
    .flatMap((item) => Object.entries(item).filter(([, operation]) => operation.operationId))
    .map(([method, operation]) => methodOf(document, method, operation))
  return `${HEAD}${methods.join('')}`
}

function methodOf(document, method, operation) {
  const name = operation.operationId.replace(/(?<=[a-z0-9])([A-Z])/g, '_$1').toLowerCase()
  const parameters = (operation.parameters ?? [])
    .map((item) => resolve(document, item))
    .filter(({ in: place }) => place === 'path' || place === 'query')
  const body = resolve(document, operation.requestBody ?? {})
  const [contentType] = Object.keys(body.content ?? {})
  const schema =
    contentType === 'application/json' ? resolve(document, body.content[contentType].schema ?? {}) : {}
  const needed = body.required ? (schema.required ?? []) : []
  const fields = [
    ...parameters.map((item) => [item.name, item.schema ?? {}, item.required === true]),
    ...Object.entries(schema.properties ?? {})
      .filter(([field]) => !parameters.some((item) => item.name === field))
      .map(([field, declared]) => [field, declared, needed.includes(field)]),
  ]
  const args = fields.map(([name, declared, required]) => {
    const field = RESERVED.has(name) ? `${name}_` : name
    const type = typeOf(document, declared)
    return required ? `${field}: ${type}` : `${field}: ${type === 'Any' ? type : `${type} | None`} = ...`
  })
  if (contentType && !schema.properties) args.push('body: Any = ...', 'content_type: str = ...')
  if (method === 'post') args.push('idempotency_key: str = ...')
  return `    def ${name}(self${args.length > 0 ? ', *' : ''}${args.map((arg) => `, ${arg}`).join('')}) -> Any:
        """${operation.summary.replaceAll('\\', '\\\\').replaceAll('"""', "'''")}"""
`
}

function resolve(document, item) {
  if (item.$ref === undefined) return item
  const target = item.$ref
    .slice(2)
    .split('/')
    .reduce((value, name) => value[name], document)
  return resolve(document, target)
}

function typeOf(document, declared) {
  const schema = resolve(document, declared)
  if (schema.enum?.every((value) => typeof value === 'string'))
    return `Literal[${schema.enum.map((value) => JSON.stringify(value)).join(', ')}]`
  const types = [schema.type ?? []].flat().map((type) => (type === 'null' ? 'None' : TYPES[type]))
  return types.length > 0 && !types.includes(undefined) ? types.join(' | ') : 'Any'
}
