# %% [markdown]
# # Pagekin in a notebook
#
# Open this file as a notebook in Jupyter (with jupytext) or VS Code, or run it as a program. It needs pandas, pyarrow, scipy and networkx besides Pagekin.

# %%
import pagekin

kin = pagekin.build("demo", "demo.kin", replace=True)
len(kin)

# %% [markdown]
# ## Search, and pages like a page
#
# Answers show themselves as tables. A page is named by its address, or by what one remembers of it.

# %%
answer = kin.search("volcano", limit=5)
answer

# %%
carbon = kin.related("elements.example/carbon.html", limit=5, explain=True)
for page in carbon:
    print(f"{page.similarity:.2f}  {page.title}: {', '.join(term.term for term in page.terms[:3])}")

# %%
elsewhere = kin.related("elements.example/carbon.html", other_sites=True, captured=True).to_pandas()
elsewhere[["title", "score", "url"]]

# %% [markdown]
# ## What is in the collection

# %%
pages = kin.pages().to_pandas()
pages.groupby("url_host_name").size().sort_values(ascending=False).head()

# %%
clusters = kin.clusters()
largest = max(clusters, key=lambda cluster: (cluster.level == 1, cluster.pages))
print(largest.name, largest.pages, largest.terms[:5], clusters.urls(largest.cluster)[:3])

# %% [markdown]
# ## Graphs

# %%
links = kin.links().to_scipy()
most_linked = links.sum(axis=0).argmax()
print(kin.links().urls[most_linked], links.nnz)

# %%
neighbours = kin.neighbours(limit=3)
graph = neighbours.to_networkx()
print(graph.number_of_nodes(), graph.number_of_edges())

# %%
table = kin.links().to_arrow()
table.select(["src", "dest", "anchor"]).slice(0, 5).to_pandas()

# %% [markdown]
# ## Which strategy is best here?
#
# The directory is made of the paths of addresses; `evaluate` says how well each strategy agrees with it.

# %%
judged = kin.evaluate("url-path", strategies={"words alone": {"anchors": {"scale": 0}}, "with anchor text": {}})
print(judged.summary)
judged

# %%
judged.to_pandas()[["name", "region", "somers_d", "somers_low", "somers_high", "ndcg10"]]

# %%
differences = judged.differences.to_pandas()
differences[["measure", "region", "difference", "low", "high", "verdict"]]

# %%
kin.close()
