type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S

/** A REST object with the property names of an entity: `company_name` becomes `companyName`. */
export type CamelKeys<T> = { [K in keyof T as K extends string ? CamelCase<K> : K]: Exclude<T[K], undefined> }

/** Returns a copy with snake_case keys in camelCase, without undefined values. */
export function camelKeys<T extends object>(object: T): CamelKeys<T> {
  const entries = Object.entries(object)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => [key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()), value])
  return Object.fromEntries(entries) as CamelKeys<T>
}
