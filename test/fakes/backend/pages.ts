/** Twelve rows, `{n: 1}` to `{n: 12}`, in the ways in which HTTP APIs hand out pages. */
export interface Page {
  readonly body: unknown;
  readonly link?: string;
}

const rows = Array.from({ length: 12 }, (_, index) => ({ n: index + 1 }));

/** @returns undefined when the address is none of `/pages/{page,offset,cursor,link}` */
export function pageOf(url: URL): Page | undefined {
  const size = Number(url.searchParams.get("limit") ?? 5);
  switch (url.pathname) {
    case "/pages/page": {
      const number = Number(url.searchParams.get("page") ?? 1);
      return { body: { data: { rows: slice((number - 1) * size, size) } } };
    }
    case "/pages/offset":
      return { body: { data: { rows: slice(Number(url.searchParams.get("offset") ?? 0), size) } } };
    case "/pages/cursor": {
      const start = Number((url.searchParams.get("cursor") ?? "after:0").replace("after:", ""));
      const next = start + size < rows.length ? `after:${start + size}` : null;
      return { body: { data: { rows: slice(start, size) }, meta: { next } } };
    }
    case "/pages/link": {
      const start = Number(url.searchParams.get("from") ?? 0);
      const target = `<${url.origin}/pages/link?from=${start + size}>; rel="next", <${url.origin}/pages/link>; rel="first"`;
      return { body: { data: { rows: slice(start, size) } }, ...(start + size < rows.length && { link: target }) };
    }
    default:
      return undefined;
  }
}

function slice(start: number, size: number): unknown[] {
  return rows.slice(start, start + size);
}
