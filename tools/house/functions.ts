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
  readonly nonNull: number
  readonly ternaries: number
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

/** Counts the constructs in a file that the report shows. */
export function countSyntax(source: Source): SyntaxCounts {
  const lineAt = createLineFinder(source.text)
  const functions: NamedFunction[] = []
  let nonNull = 0
  let ternaries = 0
  const pending: { readonly node: Node; readonly name: string | undefined }[] = [
    { node: source.program, name: undefined },
  ]
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { node } = next
    if (node.type === 'TSNonNullExpression') nonNull += 1
    if (node.type === 'ConditionalExpression') ternaries += 1
    const name = getName(node) ?? next.name
    if (FUNCTIONS.has(node.type) && hasBody(node)) {
      const line = lineAt(node.start)
      functions.push({ name: name ?? '', path: source.path, line, lines: lineAt(node.end) - line + 1 })
    }
    for (const child of getChildren(node)) pending.push({ node: child, name: isNaming(node) ? name : undefined })
  }
  return { functions: functions.sort((a, b) => a.line - b.line), nonNull, ternaries }
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
