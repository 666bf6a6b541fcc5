import { type RawBuilder, sql } from 'kysely'
import SCIMMY from 'scimmy'
import { ENTERPRISE_SCHEMA, type FilterExpression, isId, scimError, USER_SCHEMA } from './scim-messages.ts'

// Filters (RFC 7644, section 3.4.2.2) as conditions of SQL, so that a list is filtered where it is paged.

/** An attribute as an expression of SQL. */
interface Column {
  readonly expression: RawBuilder<unknown>
  readonly kind: 'text' | 'folded' | 'boolean' | 'time' | 'id'
}

type Condition = RawBuilder<boolean>

const always: Condition = sql<boolean>`true`
const all = (conditions: readonly Condition[]): Condition =>
  conditions.length === 0 ? always : sql<boolean>`(${sql.join(conditions, sql` and `)})`

/** Returns users with an attribute of a name in one letter case. Other attributes are in `attributes`. */
const userColumns: Readonly<Record<string, Column>> = {
  id: { expression: sql`scim_users.id`, kind: 'id' },
  username: { expression: sql`scim_users.user_name`, kind: 'folded' },
  externalid: { expression: sql`scim_users.external_id`, kind: 'text' },
  active: { expression: sql`scim_users.active`, kind: 'boolean' },
  'meta.created': { expression: sql`scim_users.created_at`, kind: 'time' },
  'meta.lastmodified': { expression: sql`scim_users.updated_at`, kind: 'time' },
}
const groupColumns: Readonly<Record<string, Column>> = {
  id: { expression: sql`scim_groups.id`, kind: 'id' },
  displayname: { expression: sql`scim_groups.display_name`, kind: 'folded' },
  externalid: { expression: sql`scim_groups.external_id`, kind: 'text' },
  'meta.created': { expression: sql`scim_groups.created_at`, kind: 'time' },
  'meta.lastmodified': { expression: sql`scim_groups.updated_at`, kind: 'time' },
}

/** Returns the condition that a user matches a filter. @throws 400 */
export const userCondition = (filter: FilterExpression | undefined): Condition =>
  anyOf(filter, (name, expression) => {
    const plain = withoutSchema(name, USER_SCHEMA)
    return columnsCondition(userColumns, plain, expression) ?? attributeCondition(plain, expression)
  })

/** Returns the condition that a group matches a filter. @throws 400 */
export const groupCondition = (filter: FilterExpression | undefined): Condition =>
  anyOf(filter, (name, expression) => {
    if (/^members$/i.test(name)) return membersCondition(expression)
    const condition = columnsCondition(groupColumns, withoutSchema(name, SCIMMY.Schemas.Group.id), expression)
    if (condition) return condition
    throw unknownAttribute(name)
  })

const withoutSchema = (name: string, schema: string) =>
  name.toLowerCase().startsWith(`${schema.toLowerCase()}:`) ? name.slice(schema.length + 1) : name

const unknownAttribute = (name: string) =>
  scimError(400, 'invalidFilter', `The attribute ${name} cannot be filtered by.`)

function anyOf(
  filter: FilterExpression | undefined,
  conditionOf: (name: string, expression: unknown) => Condition,
): Condition {
  if (filter === undefined) return always
  const alternatives = filter.map((parts) => {
    const named = Object.entries(parts)
    if (named.length === 0) throw scimError(400, 'invalidFilter', 'The filter is not valid.')
    return all(named.map(([name, expression]) => conditionOf(name, expression)))
  })
  return sql<boolean>`(${sql.join(alternatives, sql` or `)})`
}

const isParts = (expression: unknown): expression is Record<string, unknown> =>
  typeof expression === 'object' && expression !== null && !Array.isArray(expression)

/** Returns the condition on a column, or on parts of one such as `meta.created`; undefined if the name has none. */
function columnsCondition(
  columns: Readonly<Record<string, Column>>,
  name: string,
  expression: unknown,
): Condition | undefined {
  const key = name.toLowerCase()
  if (!isParts(expression)) {
    const column = Object.hasOwn(columns, key) ? columns[key] : undefined
    return column && comparisons(column, expression)
  }
  if (key !== 'meta') return undefined
  return all(
    Object.entries(expression).map(([part, inner]) => {
      const condition = columnsCondition(columns, `${key}.${part}`, inner)
      if (condition) return condition
      throw unknownAttribute(`${name}.${part}`)
    }),
  )
}

/** Returns the condition on an attribute that the schema of users has. */
function attributeCondition(name: string, expression: unknown): Condition {
  const enterprise = withoutSchema(name, ENTERPRISE_SCHEMA)
  const inExtension = enterprise !== name
  const schema = inExtension ? SCIMMY.Schemas.EnterpriseUser.definition : SCIMMY.Schemas.User.definition
  const known = schema.attributes.find(
    (attribute) =>
      attribute.name?.toLowerCase() === enterprise.toLowerCase() && attribute.config !== undefined,
  )
  if (!known || /^(password|groups)$/.test(known.name)) throw unknownAttribute(name)
  const parent = inExtension ? sql`scim_users.attributes -> ${ENTERPRISE_SCHEMA}` : sql`scim_users.attributes`
  if (!known.subAttributes)
    return comparisons({ expression: sql`${parent} ->> ${known.name}`, kind: kindOf(known) }, expression)
  // Entra asks for `emails eq "…"`, which means their values.
  const parts = isParts(expression) ? expression : { value: expression }
  const partsCondition = (entry: RawBuilder<unknown>, wanted: Record<string, unknown>) =>
    all(
      Object.entries(wanted).map(([part, inner]) => {
        const sub = known.subAttributes?.find(({ name: own }) => own.toLowerCase() === part.toLowerCase())
        if (!sub) throw unknownAttribute(`${name}.${part}`)
        return comparisons({ expression: sql`${entry} ->> ${sub.name}`, kind: kindOf(sub) }, inner)
      }),
    )
  if (!known.config.multiValued) return partsCondition(sql`(${parent} -> ${known.name})`, parts)
  const someEntry = (wanted: Record<string, unknown>) => sql<boolean>`exists (
    select from jsonb_array_elements(coalesce(${parent} -> ${known.name}, '[]')) as entry
    where ${partsCondition(sql`entry`, wanted)})`
  // That an entry does not match says nothing about the others: none may.
  const [part, inner] = Object.entries(parts)[0] ?? []
  if (part !== undefined && Array.isArray(inner) && inner[0] === 'not' && Object.keys(parts).length === 1)
    return sql<boolean>`not ${someEntry({ [part]: inner.slice(1) })}`
  return someEntry(parts)
}

const kindOf = ({ type, config }: SCIMMY.Types.Attribute): Column['kind'] =>
  type === 'boolean' ? 'boolean' : config.caseExact === true ? 'text' : 'folded'

/** Entra looks for a group with a member: `members eq "…"`. */
function membersCondition(expression: unknown): Condition {
  const inner = isParts(expression) ? expression.value : expression
  const matches = comparisons({ expression: sql`member.user_id`, kind: 'id' }, inner)
  return sql<boolean>`exists (select from scim_group_members as member where member.group_id = scim_groups.id and ${matches})`
}

/** Returns the condition of one or more comparisons with an attribute, each `["eq", value]` or `["not", "eq", value]`. */
function comparisons(column: Column, expression: unknown): Condition {
  if (!Array.isArray(expression)) throw scimError(400, 'invalidFilter', 'The filter is not valid.')
  const several: unknown[][] = expression.every(Array.isArray) ? expression : [expression]
  return all(
    several.map((given) => {
      const negated = given[0] === 'not'
      const [comparator, value] = negated ? given.slice(1) : given
      const condition = comparison(column, String(comparator), value)
      return negated ? sql<boolean>`(${condition}) is not true` : condition
    }),
  )
}

const ORDERS: Readonly<Record<string, RawBuilder<unknown>>> = {
  gt: sql`>`,
  ge: sql`>=`,
  lt: sql`<`,
  le: sql`<=`,
}

function comparison({ expression, kind }: Column, comparator: string, value: unknown): Condition {
  if (comparator === 'pr') return sql<boolean>`${expression} is not null`
  if (value === undefined) throw scimError(400, 'invalidFilter', `${comparator} needs a value.`)
  if (value === null) return absence(expression, comparator)
  const text = String(value)
  if (kind === 'boolean') {
    if (!/^(true|false)$/i.test(text) || !/^(eq|ne)$/.test(comparator)) throw notComparable(comparator)
    return equality(sql`(${expression})::boolean`, comparator, sql`${/^true$/i.test(text)}::boolean`)
  }
  const order = ORDERS[comparator]
  if (kind === 'time') {
    const at = new Date(text)
    if (Number.isNaN(at.getTime())) throw notComparable(comparator)
    return order
      ? sql<boolean>`${expression} ${order} ${at}::timestamptz`
      : equality(expression, comparator, sql`${at}::timestamptz`)
  }
  if (kind === 'id' && comparator === 'eq' && isId(text)) return sql<boolean>`${expression} = ${text}::uuid`
  // Compared as text, which needs no valid id: an id that does not exist is not an error.
  const [left, right] =
    kind === 'folded'
      ? [sql`lower((${expression}) collate "C")`, sql`lower(${text}::text collate "C")`]
      : [kind === 'id' ? sql`(${expression})::text` : expression, sql`${text}::text`]
  if (comparator === 'co') return sql<boolean>`position(${right} in ${left}) > 0`
  if (comparator === 'sw') return sql<boolean>`starts_with(${left}, ${right})`
  if (comparator === 'ew') return sql<boolean>`right(${left}, length(${right})) = ${right}`
  if (order) return sql<boolean>`${left} ${order} ${right}`
  return equality(left, comparator, right)
}

function equality(left: RawBuilder<unknown>, comparator: string, right: RawBuilder<unknown>): Condition {
  if (comparator === 'eq') return sql<boolean>`${left} = ${right}`
  if (comparator === 'ne') return sql<boolean>`${left} is distinct from ${right}`
  throw notComparable(comparator)
}

function absence(expression: RawBuilder<unknown>, comparator: string): Condition {
  if (comparator === 'eq') return sql<boolean>`${expression} is null`
  if (comparator === 'ne') return sql<boolean>`${expression} is not null`
  throw notComparable(comparator)
}

const notComparable = (comparator: string) =>
  scimError(400, 'invalidFilter', `The attribute cannot be compared with ${comparator} and this value.`)
