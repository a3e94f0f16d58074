# Runs the formula on an unpacked archive, with the few methods of Homebrew that it uses.
#
#   ruby formula.rb FORMULA ARCHIVE
require "digest"
require "fileutils"
require "tmpdir"

# The parts of Homebrew that the formula names, for a release on Linux.
class Formula
  Target = Struct.new(:path) do
    def install(files)
      FileUtils.mkdir_p(path)
      pairs = files.is_a?(Hash) ? files.to_a : Array(files).map { |file| [file, File.basename(file)] }
      raise "nothing to install in #{path}" if pairs.empty?
      pairs.each { |from, to| FileUtils.cp(from, File.join(path, to)) }
    end
  end

  class << self
    attr_reader :sources

    %i[desc homepage version license depends_on].each { |name| define_method(name) { |*, **| nil } }
    def head; end

    def test; end

    def on_linux
      @sources = {}
      yield
    end

    def on_intel(&block) = on_processor("x86_64", &block)

    def on_arm(&block) = on_processor("aarch64", &block)

    def on_processor(name)
      @processor = name
      yield
    end

    def url(text) = @sources[@processor] = { url: text }

    def sha256(text) = @sources[@processor][:sha256] = text
  end

  def initialize(prefix)
    @prefix = prefix
  end

  def build = Struct.new(:head?).new(false)

  { bin: "bin", man1: "share/man/man1", bash_completion: "bash", zsh_completion: "zsh",
    fish_completion: "fish" }.each do |name, place|
    define_method(name) { Target.new(File.join(@prefix, place)) }
  end
end

formula, archive = ARGV.map { |path| File.expand_path(path) }
load formula
source = Ripkit.sources.values.find { |one| one[:url].end_with?("/#{File.basename(archive)}") }
raise "the formula does not name #{archive}" unless source
raise "another checksum" unless source[:sha256] == Digest::SHA256.file(archive).hexdigest

Dir.mktmpdir do |scratch|
  system("tar", "-xzf", archive, "-C", scratch, "--strip-components=1", exception: true)
  prefix = File.join(scratch, "prefix")
  Dir.chdir(scratch) { Ripkit.new(prefix).install }
  %w[bin/ripkit share/man/man1/ripkit-search.1 bash/ripkit zsh/_ripkit fish/ripkit.fish].each do |file|
    raise "#{file} was not installed" unless File.file?(File.join(prefix, file))
  end
end
puts "   #{File.basename(formula)}: installs #{File.basename(archive)}"
