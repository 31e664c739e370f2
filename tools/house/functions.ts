import type { Source } from './sources.ts'

/** A function with its name and position. */
export interface NamedFunction {
  readonly name: string
  readonly path: string
  readonly line: number
  readonly lines: number
}

export interface SyntaxCounts {
  readonly functions: readonly NamedFunction[]
  readonly classes: readonly ClassSize[]
  readonly nonNull: number
  readonly ternaries: number
  /** Promises whose rejection disappears without a reason: `.catch(() => undefined)`. */
  readonly silentCatches: number
}

/** A class with the number of its fields and methods. */
export interface ClassSize {
  readonly name: string
  readonly path: string
  readonly line: number
  readonly lines: number
  readonly fields: number
  readonly methods: number
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

const FIELDS = new Set(['PropertyDefinition', 'TSParameterProperty'])

/** Counts the constructs in a file that the report shows. */
export function countSyntax(source: Source): SyntaxCounts {
  const lineAt = createLineFinder(source.text)
  const functions: NamedFunction[] = []
  let nonNull = 0
  const classes: ClassSize[] = []
  let ternaries = 0
  let silentCatches = 0
  const pending: { readonly node: Node; readonly name: string | undefined }[] = [
    { node: source.program, name: undefined },
  ]
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { node } = next
    if (node.type === 'TSNonNullExpression') nonNull += 1
    if (node.type === 'ConditionalExpression') ternaries += 1
    if (isSilentCatch(node)) silentCatches += 1
    if (node.type === 'ClassDeclaration' || node.type === 'ClassExpression') {
      const line = lineAt(node.start)
      classes.push({ path: source.path, line, lines: lineAt(node.end) - line + 1, ...countMembers(node, next.name) })
    }
    const name = getName(node) ?? next.name
    if (FUNCTIONS.has(node.type) && hasBody(node)) {
      const line = lineAt(node.start)
      functions.push({ name: name ?? '', path: source.path, line, lines: lineAt(node.end) - line + 1 })
    }
    for (const child of getChildren(node)) pending.push({ node: child, name: isNaming(node) ? name : undefined })
  }
  return { functions: functions.sort((a, b) => a.line - b.line), classes, nonNull, ternaries, silentCatches }
}

/** The name of a class and the number of its fields and methods. A parameter property is a field. */
function countMembers(node: Node, assigned: string | undefined): Pick<ClassSize, 'name' | 'fields' | 'methods'> {
  const { id, body } = node as { id?: unknown; body?: unknown }
  const members = isNode(body) ? getChildren(body) : []
  const name = getIdentifier(id) ?? assigned ?? ''
  const constructors = members.filter((member) => (member as { kind?: unknown }).kind === 'constructor')
  const parameters = constructors.flatMap((member) => getChildren((member as Node & { value: Node }).value))
  return {
    name,
    fields: [...members, ...parameters].filter(({ type }) => FIELDS.has(type)).length,
    methods: members.filter(({ type }) => type === 'MethodDefinition').length - constructors.length,
  }
}

/** `.catch(() => undefined)` or `.catch(() => {})`. */
function isSilentCatch(node: Node): boolean {
  if (node.type !== 'CallExpression') return false
  const { callee, arguments: given } = node as Node & { callee: Node; arguments: readonly Node[] }
  const property = getIdentifier((callee as { property?: unknown }).property)
  const [handler] = given
  if (property !== 'catch' || handler?.type !== 'ArrowFunctionExpression') return false
  const { body } = handler as Node & { body: Node & { readonly body?: readonly Node[] } }
  return getIdentifier(body) === 'undefined' || (body.type === 'BlockStatement' && body.body?.length === 0)
}

/** The name of a function, or of the variable, property or method it is assigned to. */
function getName(node: Node): string | undefined {
  const { id, key } = node as { id?: unknown; key?: unknown }
  if (isNaming(node)) return getIdentifier(node.type === 'VariableDeclarator' ? id : key)
  return FUNCTIONS.has(node.type) ? getIdentifier(id) : undefined
}

function isNaming({ type }: Node): boolean {
  return type === 'VariableDeclarator' || type === 'MethodDefinition' || type === 'PropertyDefinition'
}

function getIdentifier(node: unknown): string | undefined {
  return isNode(node) && node.type === 'Identifier' ? (node as Node & { name: string }).name : undefined
}

function hasBody(node: Node): boolean {
  return isNode((node as { body?: unknown }).body)
}

function getChildren(node: Node): readonly Node[] {
  return Object.values(node)
    .flatMap((value: unknown) => (Array.isArray(value) ? value : [value]))
    .filter(isNode)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Node>).type === 'string'
}

/** Finds line numbers by offset, with a binary search. */
function createLineFinder(text: string): (offset: number) => number {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? Infinity) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}
